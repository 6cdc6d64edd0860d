/* SPDX-License-Identifier: MIT */
#include "push/request.h"

#include "push/special_address.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

// How long it may take to look up a name, to connect and to agree on TLS.
#define CONNECT_FOR (10 * NSEC_PER_SEC)
// libcurl reads a socket up to a hundred times before it lets others have their turn: with what an
// endpoint sends without end, a larger buffer would hold up everybody for as long.
#define RECEIVE_SIZE 1024L
#define SEND_SIZE 65536L

// Called for each address that is to be connected to, so that what a name resolves to is checked
// when it is used, and cannot be another one by then.
static curl_socket_t on_open(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct request *request = context;

    (void)purpose;
    if (!request->spec->may_be_private && address_is_special(&address->addr)) {
        request->kept_out = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// There is a connection, and the request is about to leave.
static int on_connected(void *context, char *peer, char *local, int peer_port, int local_port)
{
    struct request *request = context;

    (void)peer;
    (void)local;
    (void)peer_port;
    (void)local_port;
    request->sent = true;
    return CURL_PREREQFUNC_OK;
}

static CURLcode on_tls(CURL *transfer, void *tls, void *context)
{
    const struct request *request = context;

    (void)transfer;
    SSL_CTX_set1_cert_store(tls, request->spec->authorities);
    return CURLE_OK;
}

static long status_of(CURL *transfer)
{
    long status = 0;

    (void)curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static size_t on_head(char *bytes, size_t size, size_t count, void *context)
{
    struct request *request = context;
    size_t len = size * count;

    (void)bytes;
    return answer_take_head(&request->answer, len) ? len : 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    struct request *request = context;
    size_t len = size * count;
    bool counts = status_of(request->transfer) < 300;

    return answer_take_body(&request->answer, slice_of(bytes, len), counts) ? len : 0;
}

// NOLINTBEGIN(bugprone-macro-parentheses)
#define SET(option, value) (curl_easy_setopt(transfer, option, value) == CURLE_OK)
// NOLINTEND(bugprone-macro-parentheses)

// Where it goes, and what it may do on its way. Nothing is taken from the environment or from
// files of the user that the broker runs as.
static bool set_way(CURL *transfer, struct request *request)
{
    return SET(CURLOPT_URL, request->spec->url) && SET(CURLOPT_PROTOCOLS_STR, "http,https") &&
           SET(CURLOPT_FOLLOWLOCATION, 0L) && SET(CURLOPT_PROXY, "") &&
           SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) && SET(CURLOPT_NOSIGNAL, 1L) &&
           // A resolver that is given up must not be waited for.
           SET(CURLOPT_QUICK_EXIT, 1L) && SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) &&
           SET(CURLOPT_OPENSOCKETFUNCTION, on_open) && SET(CURLOPT_OPENSOCKETDATA, request) &&
           SET(CURLOPT_PREREQFUNCTION, on_connected) && SET(CURLOPT_PREREQDATA, request);
}

// Its certificates are ours alone (authorities.h).
static bool set_tls(CURL *transfer, struct request *request)
{
    return !request->spec->authorities ||
           (SET(CURLOPT_SSL_VERIFYPEER, 1L) && SET(CURLOPT_SSL_VERIFYHOST, 2L) &&
            SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) && SET(CURLOPT_CAINFO, NULL) &&
            SET(CURLOPT_CAPATH, NULL) && SET(CURLOPT_SSL_CTX_FUNCTION, on_tls) &&
            SET(CURLOPT_SSL_CTX_DATA, request));
}

static bool set_content(CURL *transfer, struct request *request)
{
    return SET(CURLOPT_POST, 1L) && SET(CURLOPT_USERAGENT, "Tandem") &&
           SET(CURLOPT_HEADERFUNCTION, on_head) && SET(CURLOPT_HEADERDATA, request) &&
           SET(CURLOPT_WRITEFUNCTION, on_body) && SET(CURLOPT_WRITEDATA, request) &&
           SET(CURLOPT_BUFFERSIZE, RECEIVE_SIZE) && SET(CURLOPT_UPLOAD_BUFFERSIZE, SEND_SIZE) &&
           SET(CURLOPT_ERRORBUFFER, request->error) && SET(CURLOPT_PRIVATE, request);
}

bool request_open(struct request *request, const struct push_spec *spec)
{
    CURL *transfer = curl_easy_init();

    *request = (struct request){.spec = spec, .transfer = transfer};
    list_init(&request->step);
    return transfer && set_way(transfer, request) && set_tls(transfer, request) &&
           set_content(transfer, request);
}

void request_close(struct request *request)
{
    request_clear(request);
    curl_easy_cleanup(request->transfer);
    request->transfer = NULL;
}

static long milliseconds(nsec_t time_for)
{
    return time_for < NSEC_PER_MSEC ? 1 : (long)(time_for / NSEC_PER_MSEC);
}

static bool set_job(struct request *request, nsec_t time_for)
{
    CURL *transfer = request->transfer;
    struct slice body = request->body ? blob_slice(request->body) : SLICE("");

    return SET(CURLOPT_HTTPHEADER, request->fields) && SET(CURLOPT_POSTFIELDS, body.ptr) &&
           SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len) &&
           SET(CURLOPT_TIMEOUT_MS, milliseconds(time_for)) &&
           SET(CURLOPT_CONNECTTIMEOUT_MS,
               milliseconds(time_for < CONNECT_FOR ? time_for : CONNECT_FOR));
}

bool request_begin(struct request *request, const struct parcel *parcel, struct blob *body,
                   nsec_t time_for)
{
    request->body = body;
    request->error[0] = '\0';
    answer_begin(&request->answer, request->spec->max_answer);
    request->fields = parcel_fields(parcel);
    return request->fields && set_job(request, time_for) &&
           signature_begin(&request->signature, &request->spec->secrets, slice_str(parcel->mark),
                           parcel->sent_at / NSEC_PER_SEC);
}

// The signature is complete: it becomes a header field.
static enum signing add_signature(struct request *request)
{
    char text[SIGNATURE_SIZE];

    if (!signature_write(&request->signature, text) ||
        !parcel_add_field(&request->fields, "webhook-signature", text) ||
        curl_easy_setopt(request->transfer, CURLOPT_HTTPHEADER, request->fields) != CURLE_OK) {
        return SIGNING_FAILED;
    }
    signature_clear(&request->signature);
    return SIGNING_DONE;
}

enum signing request_sign(struct request *request, size_t *budget)
{
    struct slice rest = request->body ? blob_slice(request->body) : SLICE("");

    if (request->signature.count == 0) {
        return SIGNING_DONE;
    }
    rest = slice_from(rest, request->signed_len);
    if (rest.len > *budget) {
        rest.len = *budget;
    }
    if (!signature_take(&request->signature, rest)) {
        return SIGNING_FAILED;
    }
    *budget -= rest.len;
    request->signed_len += rest.len;
    if (request->body && request->signed_len < request->body->len) {
        return SIGNING_MORE;
    }
    return add_signature(request);
}

void request_judge(struct request *request, CURLcode result)
{
    struct ending ending = {
        .result = result,
        .error = request->error,
        .status = status_of(request->transfer),
        .sent = request->sent,
        .kept_out = request->kept_out,
        .too_large = request->answer.fault == ANSWER_TOO_LARGE,
    };

    (void)curl_easy_getinfo(request->transfer, CURLINFO_RETRY_AFTER, &ending.retry_after);
    outcome_judge(&request->outcome, &ending);
    if (request->outcome.kind != OUTCOME_COMPLETED) {
        return;
    }
    request->outcome.result = answer_finish(&request->answer);
    if (request->answer.fault == ANSWER_NO_MEMORY) {
        ending.result = CURLE_OUT_OF_MEMORY;
        outcome_judge(&request->outcome, &ending);
    }
}

void request_clear(struct request *request)
{
    blob_unref(request->outcome.result);
    request->outcome = (struct outcome){.kind = OUTCOME_COMPLETED};
    answer_discard(&request->answer);
    signature_clear(&request->signature);
    curl_slist_free_all(request->fields);
    request->fields = NULL;
    blob_unref(request->body);
    request->body = NULL;
    request->signed_len = 0;
    request->stale = false;
    request->noted = false;
    request->sent = false;
    request->kept_out = false;
}
