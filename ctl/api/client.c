/* SPDX-License-Identifier: MIT */
#include "ctl/api/client.h"

#include "ctl/api/address.h"
#include "ctl/api/token.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MOST_MSEC 5000L
// The longest wait before `stops` is called.
#define POLL_MSEC 500

struct client {
    const char *name; // the address as given
    struct client_settings settings;
    struct address address;
    struct text token;
    CURLM *multi;
    CURL *easy;
    int fds[2];
    bool (*stops)(void *context);
    void *stops_context;
    char said[CURL_ERROR_SIZE]; // error message of curl
};

// A request in progress.
struct exchange {
    struct client *client;
    const struct request *request;
    struct answer *answer;
    bool too_large;
    bool ended; // `take` has returned false
};

//
// Life cycle
//

static const char *first_of(const char *a, const char *b, const char *c)
{
    return a ? a : b && *b ? b : c;
}

bool client_new(struct client **made, const struct client_settings *settings,
                struct problem *problem)
{
    struct client *client = need(calloc(1, sizeof *client));

    client->settings = *settings;
    client->fds[0] = -1;
    client->fds[1] = -1;
    client->name = first_of(settings->address, getenv("TANDEM_ADDRESS"), ADDRESS_DEFAULT);
    if (!address_read(&client->address, client->name, problem) ||
        (!settings->no_token && !token_find(&client->token, settings->token_file, problem))) {
        client_free(client);
        return false;
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        (void)need(NULL);
    }
    client->multi = need(curl_multi_init());
    client->easy = need(curl_easy_init());
    *made = client;
    return true;
}

void client_free(struct client *client)
{
    if (client) {
        curl_easy_cleanup(client->easy);
        (void)curl_multi_cleanup(client->multi);
        address_free(&client->address);
        text_free(&client->token);
        free(client);
        curl_global_cleanup();
    }
}

void client_watch(struct client *client, const int fds[2], bool (*stops)(void *context),
                  void *context)
{
    client->fds[0] = stops ? fds[0] : -1;
    client->fds[1] = stops ? fds[1] : -1;
    client->stops = stops;
    client->stops_context = context;
}

const char *client_address(const struct client *client)
{
    return client->name;
}

void answer_free(struct answer *answer)
{
    text_free(&answer->body);
    *answer = (struct answer){0};
}

//
// Requests
//

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct exchange *exchange = context;
    const struct request *request = exchange->request;
    long status = 0;

    (void)size; // of a byte
    (void)curl_easy_getinfo(exchange->client->easy, CURLINFO_RESPONSE_CODE, &status);
    if (request->take && status >= 200 && status < 300) {
        exchange->ended = !request->take(request->context, slice_of(bytes, count));
        return exchange->ended ? 0 : count;
    }
    exchange->too_large = count > ANSWER_MAX - exchange->answer->body.len;
    if (exchange->too_large) {
        return 0;
    }
    text_add(&exchange->answer->body, slice_of(bytes, count));
    return count;
}

static struct curl_slist *add_header(struct curl_slist *headers, const char *name,
                                     const char *value)
{
    struct text line = {0};

    text_format(&line, "%s: %s", name, value);
    headers = need(curl_slist_append(headers, text_string(&line)));
    text_free(&line);
    return headers;
}

static struct curl_slist *make_headers(const struct client *client, const struct request *request)
{
    struct curl_slist *headers =
        add_header(NULL, "Accept", request->accept ? request->accept : "application/json");

    // A form of a web page cannot send this header, which the broker requires against CSRF.
    headers = add_header(headers, "X-Tandem-Request", "tandemctl");
    if (request->body) {
        headers = add_header(headers, "Content-Type", "application/json");
    }
    if (client->token.len > 0) {
        struct text bearer = {0};

        text_format(&bearer, "Bearer %s", text_string(&client->token));
        headers = add_header(headers, "Authorization", text_string(&bearer));
        text_free(&bearer);
    }
    return headers;
}

// Sets the address and TLS. Proxies from the environment are ignored: they are meant for the web.
static void set_peer(const struct client *client)
{
    const struct client_settings *settings = &client->settings;
    CURL *easy = client->easy;

    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    if (client->address.socket.len > 0) {
        (void)curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH,
                               text_string(&client->address.socket));
    }
    if (settings->cacert) {
        (void)curl_easy_setopt(easy, CURLOPT_CAINFO, settings->cacert);
        (void)curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    if (settings->cert) {
        (void)curl_easy_setopt(easy, CURLOPT_SSLCERT, settings->cert);
        (void)curl_easy_setopt(easy, CURLOPT_SSLKEY,
                               settings->key ? settings->key : settings->cert);
    }
}

static void set_request(struct exchange *exchange, const char *url, struct curl_slist *headers)
{
    const struct request *request = exchange->request;
    struct client *client = exchange->client;
    long timeout = (long)(client->settings.timeout * 1000);
    CURL *easy = client->easy;

    curl_easy_reset(easy);
    set_peer(client);
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->said);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                           timeout < CONNECT_MOST_MSEC ? timeout : CONNECT_MOST_MSEC);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, request->endless ? 0L : timeout);
    if (request->body) {
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(request->body));
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
    } else if (strcmp(request->method, "POST") == 0) {
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, 0L);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "");
    }
}

// Waits for the connection, for the watched descriptors or for POLL_MSEC.
static void wait_for_something(struct client *client)
{
    struct curl_waitfd extra[2];
    unsigned count = 0;

    for (size_t i = 0; i < 2; i++) {
        if (client->fds[i] >= 0) {
            extra[count++] = (struct curl_waitfd){.fd = client->fds[i], .events = CURL_WAIT_POLLIN};
        }
    }
    (void)curl_multi_poll(client->multi, extra, count, POLL_MSEC, NULL);
}

// Runs the request and sets its result. False if `stops` ended it.
static bool perform(struct client *client, CURLcode *result)
{
    int running = 1;
    int left;
    const CURLMsg *message;

    *result = CURLE_FAILED_INIT;
    while (curl_multi_perform(client->multi, &running) == CURLM_OK && running) {
        wait_for_something(client);
        if (client->stops && client->stops(client->stops_context)) {
            return false;
        }
    }
    message = curl_multi_info_read(client->multi, &left);
    if (message && message->msg == CURLMSG_DONE) {
        *result = message->data.result;
    }
    return true;
}

static enum outcome complain_of_time(const struct client *client, struct problem *problem)
{
    struct text time = {0};
    enum outcome outcome;

    units_add_seconds(&time, client->settings.timeout);
    outcome = problem_set(problem, OUTCOME_UNREACHABLE,
                          "no answer from %s within %s (--timeout says how long to wait)",
                          client->name, text_string(&time));
    text_free(&time);
    return outcome;
}

// Errors of curl without a text here get curl's own message.
static enum outcome complain(const struct exchange *exchange, CURLcode result,
                             struct problem *problem)
{
    const struct client *client = exchange->client;
    const char *said = *client->said ? client->said : curl_easy_strerror(result);

    if (exchange->too_large) {
        return problem_set(problem, OUTCOME_FAILED, "the answer of %s is larger than %zu MiB",
                           client->name, ANSWER_MAX / 1024 / 1024);
    }
    if (result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST) {
        return problem_set(problem, OUTCOME_UNREACHABLE,
                           "nobody answers at %s (%s). Is tandemd running, and is this its "
                           "admin.listen? --address or TANDEM_ADDRESS name another address",
                           client->name, said);
    }
    if (result == CURLE_OPERATION_TIMEDOUT) {
        return complain_of_time(client, problem);
    }
    if (result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CACERT_BADFILE) {
        return problem_set(problem, OUTCOME_UNREACHABLE,
                           "%s is not trusted (%s): --cacert names the file of who vouches for it",
                           client->name, said);
    }
    if (result == CURLE_SSL_CERTPROBLEM) {
        return problem_set(problem, OUTCOME_USAGE,
                           "the certificate of --cert and --key cannot be used (%s)", said);
    }
    if (result == CURLE_UNSUPPORTED_PROTOCOL || result == CURLE_WEIRD_SERVER_REPLY) {
        return problem_set(problem, OUTCOME_UNREACHABLE,
                           "what answers at %s does not speak HTTP: is this the broker's "
                           "admin.listen, and not another port of it?",
                           client->name);
    }
    return problem_set(problem, OUTCOME_UNREACHABLE, "%s: %s", client->name, said);
}

enum outcome client_send(struct client *client, const struct request *request,
                         struct answer *answer, struct problem *problem)
{
    struct exchange exchange = {.client = client, .request = request, .answer = answer};
    struct curl_slist *headers = make_headers(client, request);
    struct text url = {0};
    CURLcode result;
    bool finished;

    answer_free(answer);
    *client->said = '\0';
    text_put(&url, text_string(&client->address.base));
    text_put(&url, request->path);
    set_request(&exchange, text_string(&url), headers);
    (void)curl_multi_add_handle(client->multi, client->easy);
    finished = perform(client, &result);
    (void)curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &answer->status);
    (void)curl_multi_remove_handle(client->multi, client->easy);
    curl_slist_free_all(headers);
    text_free(&url);
    if (!finished) {
        return problem_set(problem, OUTCOME_INTERRUPTED, "interrupted");
    }
    if (result != CURLE_OK && !exchange.ended) {
        return complain(&exchange, result, problem);
    }
    return OUTCOME_DONE;
}
