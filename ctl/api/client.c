/* SPDX-License-Identifier: MIT */
#include "ctl/api/client.h"

#include "core/base/digits.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"

#include <curl/curl.h>

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PORT_DEFAULT ":9180"
// The longest token in bytes.
#define TOKEN_MAX 4096
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
    char curl_error[CURL_ERROR_SIZE]; // its message
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
// Addresses
//

// Advances `*from` past `word`, compared without case.
static bool skip_prefix(const char **from, const char *word)
{
    size_t len = strlen(word);

    if (strncasecmp(*from, word, len) != 0) {
        return false;
    }
    *from += len;
    return true;
}

// Whether the text has only characters of a host name or an IP address.
static bool is_api_host(struct slice host)
{
    static const char others[] = ".-_:[]%";

    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!plain && !memchr(others, c, sizeof others - 1)) {
            return false;
        }
    }
    return host.len > 0;
}

// Parses an address without its scheme.
static bool read_host(struct address *address, struct slice host)
{
    size_t colon = host.len;
    struct slice name;
    uint64_t port;
    bool brackets;

    while (colon > 0 && host.ptr[colon - 1] >= '0' && host.ptr[colon - 1] <= '9') {
        colon--;
    }
    // The host ends at the colon before the port, if there is one.
    colon = colon > 0 && host.ptr[colon - 1] == ':' ? colon - 1 : host.len;
    name = slice_of(host.ptr, colon);
    brackets = name.len > 2 && name.ptr[0] == '[' && name.ptr[name.len - 1] == ']';
    if (!is_api_host(name) || (!brackets && memchr(name.ptr, ':', name.len))) {
        return false;
    }
    if (colon < host.len &&
        (!digits_read(slice_from(host, colon + 1), &port) || port == 0 || port > UINT16_MAX)) {
        return false;
    }
    text_add(&address->base, host);
    if (colon == host.len) {
        text_put(&address->base, PORT_DEFAULT);
    }
    return true;
}

bool address_read(struct address *address, const char *from, struct problem *problem)
{
    const char *rest = from;
    size_t len;

    *address = (struct address){0};
    if (skip_prefix(&rest, "unix:")) {
        text_put(&address->socket, rest);
        text_put(&address->base, "http://localhost");
        if (*rest == '/') {
            return true;
        }
        (void)problem_set(problem, OUTCOME_USAGE,
                          "\"%s\" is not an address: the path of a Unix socket begins with a "
                          "slash, as in unix:/run/tandem/admin.sock",
                          from);
        address_free(address);
        return false;
    }
    address->tls = skip_prefix(&rest, "https://");
    text_put(&address->base, address->tls ? "https://" : "http://");
    if (!address->tls) {
        (void)skip_prefix(&rest, "http://");
    }
    len = strlen(rest);
    while (len > 0 && rest[len - 1] == '/') {
        len--;
    }
    if (!read_host(address, slice_of(rest, len))) {
        (void)problem_set(problem, OUTCOME_USAGE,
                          "\"%s\" is not an address: give one such as " ADDRESS_DEFAULT
                          ", https://HOST:PORT or unix:/PATH",
                          from);
        address_free(address);
        return false;
    }
    return true;
}

void address_free(struct address *address)
{
    text_free(&address->base);
    text_free(&address->socket);
}

//
// Tokens
//

static bool read_token_file(struct text *token, const char *file, struct problem *problem)
{
    FILE *stream = fopen(file, "re");
    char line[TOKEN_MAX + 2];
    bool good;

    if (!stream) {
        (void)problem_set(problem, OUTCOME_USAGE, "the token file %s cannot be read: %s", file,
                          strerror(errno));
        return false;
    }
    good = fgets(line, sizeof line, stream) != NULL;
    (void)fclose(stream);
    if (good) {
        line[strcspn(line, "\r\n")] = '\0';
        text_put(token, line);
    }
    if (token->len == 0) {
        (void)problem_set(problem, OUTCOME_USAGE,
                          "the token file %s has no token in its first line", file);
    }
    return token->len > 0;
}

// Whether the token is valid in a header.
static bool is_token(const struct text *token)
{
    for (size_t i = 0; i < token->len; i++) {
        if (token->data[i] <= ' ' || token->data[i] > '~') {
            return false;
        }
    }
    return token->len <= TOKEN_MAX;
}

// Reads the token from the file, or from TANDEM_TOKEN if `file` is NULL; empty if there is none.
// False with a problem.
static bool find_token(struct text *token, const char *file, struct problem *problem)
{
    const char *given = getenv("TANDEM_TOKEN");

    *token = (struct text){0};
    if (file && !read_token_file(token, file, problem)) {
        return false;
    }
    if (!file && given) {
        text_put(token, given);
    }
    if (!is_token(token)) {
        (void)problem_set(problem, OUTCOME_USAGE,
                          "the token in %s has invalid characters, or is longer than %d bytes",
                          file ? file : "TANDEM_TOKEN", TOKEN_MAX);
        text_free(token);
        return false;
    }
    return true;
}

//
// Life cycle
//

bool client_new(struct client **made, const struct client_settings *settings,
                struct problem *problem)
{
    struct client *client = need(calloc(1, sizeof *client));
    const char *environment = getenv("TANDEM_ADDRESS");

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        (void)need(NULL);
    }
    client->settings = *settings;
    client->fds[0] = -1;
    client->fds[1] = -1;
    client->name = settings->address                     ? settings->address
                   : environment && *environment != '\0' ? environment
                                                         : ADDRESS_DEFAULT;
    if (!address_read(&client->address, client->name, problem) ||
        (!settings->no_token && !find_token(&client->token, settings->token_file, problem))) {
        client_free(client);
        return false;
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

static size_t take_answer(char *bytes, size_t size, size_t count, void *context)
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

static struct curl_slist *append_header(struct curl_slist *headers, const char *name,
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
        append_header(NULL, "Accept", request->accept ? request->accept : "application/json");

    // A form of a web page cannot send this header, which the broker requires against CSRF.
    headers = append_header(headers, "X-Tandem-Request", "tandemctl");
    if (request->body) {
        headers = append_header(headers, "Content-Type", "application/json");
    }
    if (client->token.len > 0) {
        struct text bearer = {0};

        text_format(&bearer, "Bearer %s", text_string(&client->token));
        headers = append_header(headers, "Authorization", text_string(&bearer));
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
    // Rounded up, since 0 means no timeout to curl.
    long timeout = (long)ceil(client->settings.timeout * 1000);
    CURL *easy = client->easy;

    curl_easy_reset(easy);
    set_peer(client);
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->curl_error);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer);
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

// Runs the request and sets its result. False if `stops` ended it.
static bool perform(struct client *client, CURLcode *result)
{
    struct curl_waitfd watched[2];
    unsigned count = 0;
    int running = 1;
    int left;
    const CURLMsg *message;

    for (size_t i = 0; i < 2; i++) {
        if (client->fds[i] >= 0) {
            watched[count++] =
                (struct curl_waitfd){.fd = client->fds[i], .events = CURL_WAIT_POLLIN};
        }
    }
    *result = CURLE_FAILED_INIT;
    while (curl_multi_perform(client->multi, &running) == CURLM_OK && running) {
        (void)curl_multi_poll(client->multi, watched, count, POLL_MSEC, NULL);
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

// Errors of curl without a text here get curl's own message.
static enum outcome set_curl_problem(const struct exchange *exchange, CURLcode result,
                                     struct problem *problem)
{
    const struct client *client = exchange->client;
    const char *message = *client->curl_error ? client->curl_error : curl_easy_strerror(result);

    if (exchange->too_large) {
        return problem_set(problem, OUTCOME_FAILED, "the answer of %s is larger than %zu MiB",
                           client->name, ANSWER_MAX / 1024 / 1024);
    }
    if (result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST) {
        return problem_set(problem, OUTCOME_UNREACHABLE,
                           "no broker answers at %s (%s). Is tandemd running, and is this its "
                           "admin.listen? Give another address with --address or TANDEM_ADDRESS",
                           client->name, message);
    }
    if (result == CURLE_OPERATION_TIMEDOUT) {
        return problem_set(problem, OUTCOME_UNREACHABLE,
                           "no answer from %s within %s (--timeout sets how long to wait)",
                           client->name, units_seconds(client->settings.timeout).text);
    }
    if (result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CACERT_BADFILE) {
        return problem_set(problem, OUTCOME_UNREACHABLE,
                           "%s is not trusted (%s): give the file of its certificate authority "
                           "with --cacert",
                           client->name, message);
    }
    if (result == CURLE_SSL_CERTPROBLEM) {
        return problem_set(problem, OUTCOME_USAGE,
                           "the certificate of --cert and --key cannot be used (%s)", message);
    }
    if (result == CURLE_UNSUPPORTED_PROTOCOL || result == CURLE_WEIRD_SERVER_REPLY) {
        return problem_set(problem, OUTCOME_UNREACHABLE,
                           "the server at %s does not speak HTTP: is this the broker's "
                           "admin.listen, or another of its ports?",
                           client->name);
    }
    return problem_set(problem, OUTCOME_UNREACHABLE, "%s: %s", client->name, message);
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
    *client->curl_error = '\0';
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
        return set_curl_problem(&exchange, result, problem);
    }
    return OUTCOME_DONE;
}
