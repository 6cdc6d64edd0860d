/* SPDX-License-Identifier: MIT */
#include "push/push_request.h"

#include "core/base/digits.h"
#include "proto_common/field_name.h"
#include "push/special_address.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <sys/socket.h>

//
// Header fields
//

// The limit for the name of a field and its separator.
#define FIELD_NAME_MAX 32
#define FIELD_MAX (FIELD_NAME_MAX + 3 * QUEUE_NAME_MAX)

void push_message_name(struct push_message *message, const struct handles *handles, uint64_t id,
                       nsec_t created_at, struct slice queue)
{
    char *end = handle_write(handles, id, message->handle);
    char *at = message->webhook_id;

    message->id = id;
    *end = '\0';
    // The signed text is separated by dots.
    for (const char *from = message->handle; from < end; from++) {
        *at++ = (char)(*from == '.' ? '-' : *from);
    }
    *at++ = '-';
    at = digits_write(at, (uint64_t)(created_at / NSEC_PER_MSEC));
    *at = '\0';
    *field_name_write(queue, message->queue) = '\0';
}

static bool push_add_field(struct curl_slist **fields, const char *name, const char *value)
{
    char field[FIELD_MAX];
    struct curl_slist *more;

    (void)snprintf(field, sizeof field, "%s: %s", name, value);
    more = curl_slist_append(*fields, field);
    if (more) {
        *fields = more;
    }
    return more != NULL;
}

static bool push_add_number(struct curl_slist **fields, const char *name, int64_t number)
{
    char text[DIGITS_MAX + 1];

    *digits_write(text, (uint64_t)number) = '\0';
    return push_add_field(fields, name, text);
}

static struct curl_slist *push_message_fields(const struct push_message *message)
{
    struct curl_slist *fields = NULL;

    if (push_add_field(&fields, "Content-Type", "application/octet-stream") &&
        push_add_field(&fields, "X-Gearman-Job-Handle", message->handle) &&
        push_add_field(&fields, "X-Tandem-Queue", message->queue) &&
        push_add_number(&fields, "X-Tandem-Attempt", message->attempt) &&
        push_add_number(&fields, "X-Tandem-Deadline", message->deadline_at / NSEC_PER_MSEC) &&
        push_add_field(&fields, "webhook-id", message->webhook_id) &&
        push_add_number(&fields, "webhook-timestamp", message->sent_at / NSEC_PER_SEC) &&
        // An empty value removes the field: with it, libcurl would wait a second for "100 Continue"
        // before it sends a large body.
        push_add_field(&fields, "Expect", "")) {
        return fields;
    }
    curl_slist_free_all(fields);
    return NULL;
}

//
// Responses
//

// The limit for all header fields together.
#define RESPONSE_HEAD_MAX ((size_t)64 << 10)
// This much of a body that does not count is read, so that the connection can be reused.
#define RESPONSE_IGNORED_MAX ((size_t)64 << 10)

static void push_response_discard(struct push_response *response)
{
    blob_builder_discard(&response->body);
}

static struct blob *push_response_finish(struct push_response *response)
{
    struct blob *result;

    response->body.total -= blob_builder_missing(&response->body);
    if (response->body.total == 0) {
        push_response_discard(response);
        return NULL;
    }
    result = blob_builder_finish(&response->body);
    if (!result) {
        response->fault = RESPONSE_NO_MEMORY;
    }
    return result;
}

//
// Outcomes
//

const char *const push_outcome_names[OUTCOME_KINDS] = {
#define X(name, word) [name] = (word),
    OUTCOMES(X)
#undef X
};

// The result of a transfer that is over.
struct push_ending {
    CURLcode result;
    const char *error;      // libcurl's text, which may be empty
    long status;            // of the response; 0: none
    curl_off_t retry_after; // seconds; 0: not given
    bool sent;              // the endpoint may have received a part of the request
    bool address_refused;   // it was not connected to an address, because that is special
    bool too_large;         // the result
};

// The longest pause that an endpoint can ask for, because its jobs wait meanwhile.
#define PAUSE_FOR_MAX (600 * NSEC_PER_SEC)

static nsec_t push_pause_for(curl_off_t seconds)
{
    if (seconds <= 0) {
        return 0;
    }
    return seconds < PAUSE_FOR_MAX / NSEC_PER_SEC ? (nsec_t)seconds * NSEC_PER_SEC : PAUSE_FOR_MAX;
}

static void push_outcome_set(struct push_outcome *outcome, enum push_outcome_kind kind,
                             const char *what, const char *more)
{
    outcome->kind = kind;
    (void)snprintf(outcome->why, sizeof outcome->why, "%s%s%s", what, *more ? ": " : "", more);
}

static void push_judge_status(struct push_outcome *outcome, const struct push_ending *ending)
{
    char number[24];

    // With other statuses, Retry-After is about this request, or about a redirect (RFC 9110,
    // 10.2.3).
    if (ending->status == 429 || ending->status == 503) {
        outcome->pause_for = push_pause_for(ending->retry_after);
    }
    (void)snprintf(number, sizeof number, "HTTP status %ld", ending->status);
    if (ending->status == 429 || outcome->pause_for > 0) {
        push_outcome_set(outcome, OUTCOME_DEFERRED, number, "");
        return;
    }
    outcome->down = ending->status >= 500;
    push_outcome_set(outcome, OUTCOME_REFUSED, number,
                     ending->status / 100 == 3 ? "redirects are not followed" : "");
}

static const char *push_error_text(const struct push_ending *ending)
{
    return *ending->error ? ending->error : curl_easy_strerror(ending->result);
}

static void push_judge_failure(struct push_outcome *outcome, const struct push_ending *ending)
{
    outcome->down = true;
    // A name may have special addresses besides the one that was connected to.
    if (!ending->sent && ending->address_refused) {
        push_outcome_set(outcome, OUTCOME_UNREACHABLE, "its address is not of the public Internet",
                         "");
    } else if (!ending->sent) {
        push_outcome_set(outcome, OUTCOME_UNREACHABLE, "no connection", push_error_text(ending));
    } else if (ending->too_large) {
        outcome->down = false;
        push_outcome_set(outcome, OUTCOME_TOO_LARGE, "the answer is larger than push_max_answer",
                         "");
    } else if (ending->result == CURLE_OPERATION_TIMEDOUT) {
        push_outcome_set(outcome, OUTCOME_TIMED_OUT, "no answer in time", "");
    } else {
        push_outcome_set(outcome, OUTCOME_BROKEN, "no whole answer", push_error_text(ending));
    }
}

static void push_outcome_judge(struct push_outcome *outcome, const struct push_ending *ending)
{
    *outcome = (struct push_outcome){.kind = OUTCOME_COMPLETED, .status = ending->status};
    // If the status is not a success, the rest of the response does not matter.
    if (ending->sent && ending->status >= 300) {
        push_judge_status(outcome, ending);
    } else if (ending->result != CURLE_OK) {
        push_judge_failure(outcome, ending);
    } else if (ending->status < 200) {
        outcome->down = true;
        push_outcome_set(outcome, OUTCOME_BROKEN, "no whole answer", "not HTTP");
    }
}

//
// Transfers
//

// The limit for resolving the name, connecting and the TLS handshake.
#define CONNECT_FOR (10 * NSEC_PER_SEC)
// libcurl reads a socket up to a hundred times before it serves others. With a larger buffer, an
// endpoint that sends without end would hold up the loop.
#define RECEIVE_SIZE 1024L
#define SEND_SIZE 65536L

// Called with each address before connecting. The addresses of a name are checked here, so that
// they cannot change between the check and the use.
static curl_socket_t push_on_open(void *context, curlsocktype purpose,
                                  struct curl_sockaddr *address)
{
    struct push_request *request = context;

    (void)purpose;
    if (!request->spec->may_be_private && address_is_special(&address->addr)) {
        request->address_refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// The connection is established, and the request is about to be sent.
static int push_on_connected(void *context, char *peer, char *local, int peer_port, int local_port)
{
    struct push_request *request = context;

    (void)peer;
    (void)local;
    (void)peer_port;
    (void)local_port;
    request->sent = true;
    return CURL_PREREQFUNC_OK;
}

static CURLcode push_on_tls(CURL *transfer, void *tls, void *context)
{
    const struct push_request *request = context;

    (void)transfer;
    SSL_CTX_set1_cert_store(tls, request->spec->authorities);
    return CURLE_OK;
}

static long push_status(CURL *transfer)
{
    long status = 0;

    (void)curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

// The callbacks of the response return another number than `len` to end the transfer.
static size_t push_on_head(char *bytes, size_t size, size_t count, void *context)
{
    struct push_response *response = &((struct push_request *)context)->response;
    size_t len = size * count;

    (void)bytes;
    response->head_len += len;
    if (response->head_len > RESPONSE_HEAD_MAX) {
        response->fault = RESPONSE_HEAD_TOO_LARGE;
    }
    return response->fault == RESPONSE_GOOD ? len : 0;
}

static size_t push_on_body(char *bytes, size_t size, size_t count, void *context)
{
    struct push_request *request = context;
    struct push_response *response = &request->response;
    size_t len = size * count;

    if (push_status(request->transfer) >= 300) {
        response->ignored_len += len;
        return response->ignored_len <= RESPONSE_IGNORED_MAX ? len : 0;
    }
    if (len > blob_builder_missing(&response->body)) {
        response->fault = RESPONSE_TOO_LARGE;
    } else if (blob_builder_take(&response->body, slice_of(bytes, len)) != len) {
        response->fault = RESPONSE_NO_MEMORY;
    }
    return response->fault == RESPONSE_GOOD ? len : 0;
}

// NOLINTBEGIN(bugprone-macro-parentheses)
#define SET(option, value) (curl_easy_setopt(transfer, option, value) == CURLE_OK)
// NOLINTEND(bugprone-macro-parentheses)

// The protocol options. Nothing is taken from the environment, or from files of the user of the
// process.
static bool push_set_transport(CURL *transfer, struct push_request *request)
{
    return SET(CURLOPT_URL, request->spec->url) && SET(CURLOPT_PROTOCOLS_STR, "http,https") &&
           SET(CURLOPT_FOLLOWLOCATION, 0L) && SET(CURLOPT_PROXY, "") &&
           SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) && SET(CURLOPT_NOSIGNAL, 1L) &&
           // Do not wait for a resolver that was given up.
           SET(CURLOPT_QUICK_EXIT, 1L) && SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) &&
           SET(CURLOPT_OPENSOCKETFUNCTION, push_on_open) && SET(CURLOPT_OPENSOCKETDATA, request) &&
           SET(CURLOPT_PREREQFUNCTION, push_on_connected) && SET(CURLOPT_PREREQDATA, request);
}

// Only the certificates of the spec are trusted.
static bool push_set_tls(CURL *transfer, struct push_request *request)
{
    return !request->spec->authorities ||
           (SET(CURLOPT_SSL_VERIFYPEER, 1L) && SET(CURLOPT_SSL_VERIFYHOST, 2L) &&
            SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) && SET(CURLOPT_CAINFO, NULL) &&
            SET(CURLOPT_CAPATH, NULL) && SET(CURLOPT_SSL_CTX_FUNCTION, push_on_tls) &&
            SET(CURLOPT_SSL_CTX_DATA, request));
}

static bool push_set_content(CURL *transfer, struct push_request *request)
{
    return SET(CURLOPT_POST, 1L) && SET(CURLOPT_USERAGENT, "Tandem") &&
           SET(CURLOPT_HEADERFUNCTION, push_on_head) && SET(CURLOPT_HEADERDATA, request) &&
           SET(CURLOPT_WRITEFUNCTION, push_on_body) && SET(CURLOPT_WRITEDATA, request) &&
           SET(CURLOPT_BUFFERSIZE, RECEIVE_SIZE) && SET(CURLOPT_UPLOAD_BUFFERSIZE, SEND_SIZE) &&
           SET(CURLOPT_ERRORBUFFER, request->error) && SET(CURLOPT_PRIVATE, request);
}

bool push_request_open(struct push_request *request, const struct push_spec *spec)
{
    CURL *transfer = curl_easy_init();

    *request = (struct push_request){.spec = spec, .transfer = transfer};
    list_init(&request->step);
    return transfer && push_set_transport(transfer, request) && push_set_tls(transfer, request) &&
           push_set_content(transfer, request);
}

void push_request_close(struct push_request *request)
{
    push_request_clear(request);
    curl_easy_cleanup(request->transfer);
    request->transfer = NULL;
}

static long push_milliseconds(nsec_t time_for)
{
    return time_for < NSEC_PER_MSEC ? 1 : (long)(time_for / NSEC_PER_MSEC);
}

static bool push_set_job(struct push_request *request, nsec_t time_for)
{
    CURL *transfer = request->transfer;
    struct slice body = request->body ? blob_slice(request->body) : SLICE("");

    return SET(CURLOPT_HTTPHEADER, request->fields) && SET(CURLOPT_POSTFIELDS, body.ptr) &&
           SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len) &&
           SET(CURLOPT_TIMEOUT_MS, push_milliseconds(time_for)) &&
           SET(CURLOPT_CONNECTTIMEOUT_MS,
               push_milliseconds(time_for < CONNECT_FOR ? time_for : CONNECT_FOR));
}

bool push_request_begin(struct push_request *request, const struct push_message *message,
                        struct blob *body, nsec_t time_for)
{
    request->body = body;
    request->error[0] = '\0';
    request->response = (struct push_response){.fault = RESPONSE_GOOD};
    blob_builder_init(&request->response.body, request->spec->max_answer);
    request->fields = push_message_fields(message);
    return request->fields && push_set_job(request, time_for) &&
           signature_begin(&request->signature, &request->spec->secrets,
                           slice_str(message->webhook_id), message->sent_at / NSEC_PER_SEC);
}

// The signature is complete: adds its header field.
static enum push_signing push_add_signature(struct push_request *request)
{
    char text[SIGNATURE_SIZE];

    if (!signature_write(&request->signature, text) ||
        !push_add_field(&request->fields, "webhook-signature", text) ||
        curl_easy_setopt(request->transfer, CURLOPT_HTTPHEADER, request->fields) != CURLE_OK) {
        return SIGNING_FAILED;
    }
    signature_clear(&request->signature);
    return SIGNING_DONE;
}

enum push_signing push_request_sign(struct push_request *request, size_t *budget)
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
    return push_add_signature(request);
}

void push_request_judge(struct push_request *request, CURLcode result)
{
    struct push_ending ending = {
        .result = result,
        .error = request->error,
        .status = push_status(request->transfer),
        .sent = request->sent,
        .address_refused = request->address_refused,
        .too_large = request->response.fault == RESPONSE_TOO_LARGE,
    };

    (void)curl_easy_getinfo(request->transfer, CURLINFO_RETRY_AFTER, &ending.retry_after);
    push_outcome_judge(&request->outcome, &ending);
    if (request->outcome.kind != OUTCOME_COMPLETED) {
        return;
    }
    request->outcome.result = push_response_finish(&request->response);
    if (request->response.fault == RESPONSE_NO_MEMORY) {
        ending.result = CURLE_OUT_OF_MEMORY;
        push_outcome_judge(&request->outcome, &ending);
    }
}

void push_request_clear(struct push_request *request)
{
    blob_unref(request->outcome.result);
    request->outcome = (struct push_outcome){.kind = OUTCOME_COMPLETED};
    push_response_discard(&request->response);
    signature_clear(&request->signature);
    curl_slist_free_all(request->fields);
    request->fields = NULL;
    blob_unref(request->body);
    request->body = NULL;
    request->signed_len = 0;
    request->stale = false;
    request->noted = false;
    request->sent = false;
    request->address_refused = false;
}
