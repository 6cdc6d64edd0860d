/* SPDX-License-Identifier: MIT */
#include "proto_http/http.h"

#include "core/base/log.h"

#include "proto_http/conn.h"
#include "proto_http/fields.h"
#include "proto_http/list.h"
#include "proto_http/request.h"
#include "proto_http/tokens.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SECONDS_MAX 86400
// How much of a wrong word a message shows.
#define WORD_SHOWN 128

static const struct option options[] = {
    {.name = "max_body",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct web_options, max_body),
     .preset = "64M",
     .max = INT64_C(1) << 30,
     .live = true,
     .effect = "A request with a larger body is answered 413."},
    {.name = "max_result",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct web_options, max_result),
     .preset = "64M",
     .max = INT64_C(1) << 30,
     .live = true,
     .effect = "A request whose job's result is larger is answered 502."},
    {.name = "max_header_bytes",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct web_options, max_header_bytes),
     .preset = "16k",
     .min = 1024,
     .max = 32 << 10,
     .live = true,
     .effect = "A request with a larger head is answered 431."},
    {.name = "header_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct web_options, header_timeout),
     .preset = "10",
     .max = SECONDS_MAX,
     .live = true,
     .effect = "Seconds that the head of a request may take to arrive; 0: any time."},
    {.name = "body_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct web_options, body_timeout),
     .preset = "60",
     .max = SECONDS_MAX,
     .live = true,
     .effect = "Seconds without a byte of a body that is still to come; 0: any time."},
    {.name = "idle_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct web_options, idle_timeout),
     .preset = "75",
     .max = SECONDS_MAX,
     .live = true,
     .effect = "Seconds that a connection stays without a request; 0: for ever."},
    {.name = "wait_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct web_options, wait_timeout),
     .preset = "0",
     .max = UINT32_MAX,
     .live = true,
     .effect = "Seconds that a request waits for its job before it is answered 504; 0: no limit."},
    {.name = "status_codes",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct web_options, status_codes),
     .preset = "honest",
     .choices = "honest|gearmand",
     .live = true,
     .effect = "What jobs that fail and submissions that are refused are answered with."},
    {.name = "cors_origins",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct web_options, cors_origins),
     .preset = "",
     .live = true,
     .effect = "Origins whose pages may call and see the answers; *: all."},
    {.name = "hosts",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct web_options, hosts),
     .preset = "",
     .live = true,
     .effect = "Names that a request may give as its Host, besides localhost and addresses."},
    {.name = "functions",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct web_options, functions),
     .preset = "",
     .live = true,
     .effect = "Globs of the functions that may be called; empty for all."},
    {.name = "tokens",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct web_options, tokens),
     .preset = "",
     .effect = "The file of tokens that callers need; empty for none. Read again on SIGHUP."},
    {.name = "job_retries",
     .section = "gearman",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct web_options, job_retries),
     .preset = "-1",
     .min = -1,
     .max = JOB_ATTEMPTS_MAX,
     .live = true},
    {.name = "on_fail",
     .section = "gearman",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct web_options, on_fail),
     .preset = "drop",
     .choices = "drop|bury",
     .live = true},
    {.name = "handle_prefix",
     .section = "gearman",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct web_options, handle_prefix),
     .preset = ""},
    {.name = NULL},
};

// Whether one of the bytes is in the word.
static bool has_any(struct slice word, const char *bytes)
{
    for (size_t i = 0; i < word.len; i++) {
        if (strchr(bytes, word.ptr[i])) {
            return true;
        }
    }
    return false;
}

// Whether the word begins and ends so.
static bool is_framed(struct slice word, struct slice head, struct slice tail)
{
    return word.len >= head.len + tail.len && http1_same_word(slice_of(word.ptr, head.len), head) &&
           slice_equal(slice_from(word, word.len - tail.len), tail);
}

// As a browser says it: `scheme://host`, perhaps a port, but not the one that the scheme has
// anyway, and no path; `null` of a page that has none. Anything else would be that of no page.
static bool is_origin(struct slice origin)
{
    const char *end = origin.ptr + origin.len;
    const char *colon = memchr(origin.ptr, ':', origin.len);

    if (slice_equal(origin, SLICE("*")) || slice_equal(origin, SLICE("null"))) {
        return true;
    }
    return colon && colon > origin.ptr && end - colon > 3 && memcmp(colon, "://", 3) == 0 &&
           !has_any(slice_of(colon + 3, (size_t)(end - colon) - 3), "/*?#@") &&
           !is_framed(origin, SLICE("http://"), SLICE(":80")) &&
           !is_framed(origin, SLICE("https://"), SLICE(":443"));
}

static bool check_origins(const char *origins, struct frontend_reason *why)
{
    struct slice list = slice_of(origins, strlen(origins));
    struct slice origin;

    while (web_list_next(&list, &origin)) {
        if (!is_origin(origin)) {
            (void)snprintf(why->text, sizeof why->text,
                           "cors_origins: `%.*s` is not an origin, such as https://app.example",
                           origin.len < WORD_SHOWN ? (int)origin.len : WORD_SHOWN, origin.ptr);
            return false;
        }
    }
    return true;
}

// A Host is compared without its port, and with a whole name.
static bool check_hosts(const char *hosts, struct frontend_reason *why)
{
    struct slice list = slice_of(hosts, strlen(hosts));
    struct slice host;

    while (web_list_next(&list, &host)) {
        if (has_any(host, *host.ptr == '[' ? "*/@" : "*/@:")) {
            (void)snprintf(why->text, sizeof why->text,
                           "hosts: `%.*s` is not a name alone, such as app.example",
                           host.len < WORD_SHOWN ? (int)host.len : WORD_SHOWN, host.ptr);
            return false;
        }
    }
    return true;
}

static bool check(const void *settings, struct frontend_reason *why)
{
    const struct web_options *ours = settings;
    struct web_tokens *tokens;

    if (!check_origins(ours->cors_origins, why) || !check_hosts(ours->hosts, why)) {
        return false;
    }
    if (!*ours->tokens) {
        return true;
    }
    tokens = web_tokens_read(ours->tokens, why);
    web_tokens_free(tokens);
    return tokens != NULL;
}

static enum status start(void *state, struct broker *broker, const void *settings,
                         const struct process_facts *facts)
{
    struct web_shared *shared = state;

    shared->broker = broker;
    shared->options = settings;
    shared->facts = facts;
    web_names_begin(&shared->names);
    if (!handles_set_prefix(&shared->handles, shared->options->handle_prefix, facts->hostname)) {
        return STATUS_BAD_NAME;
    }
    if (*shared->options->tokens) {
        shared->tokens = web_tokens_load(shared->options->tokens);
        return shared->tokens ? STATUS_OK : STATUS_NOT_FOUND;
    }
    return STATUS_OK;
}

static void name_host(void *state, const char *host)
{
    struct web_shared *shared = state;

    handles_set_host(&shared->handles, shared->options->handle_prefix, host);
}

static void stop(void *state)
{
    struct web_shared *shared = state;

    web_tokens_free(shared->tokens);
}

// Tokens that cannot be read leave those that were. New options were checked, but these may name
// another file: the key waits for a restart.
static void reload(void *state)
{
    struct web_shared *shared = state;
    struct web_tokens *reloaded;

    if (!shared->tokens) {
        return;
    }
    reloaded = web_tokens_load(shared->options->tokens);
    if (reloaded) {
        web_tokens_free(shared->tokens);
        shared->tokens = reloaded;
    } else {
        log_error("tokens_kept", log_string("file", shared->options->tokens),
                  log_string("note", "the tokens that were read before hold"));
    }
}

static enum status conn_open(void *state, void *shared, struct wire *wire)
{
    struct web_conn *conn = state;
    enum status status;

    conn->shared = shared;
    conn->wire = wire;
    status = broker_session_open(conn->shared->broker, &web_session_ops, conn, CHOICE_OLDEST,
                                 &conn->session);
    if (status == STATUS_OK) {
        web_conn_begin(conn);
    }
    return status;
}

// A client that has closed its side counts as gone.
static bool conn_eof(void *state)
{
    (void)state;
    return false;
}

static void conn_close(void *state)
{
    struct web_conn *conn = state;

    broker_session_close(conn->session);
    web_request_free(conn->request);
}

const struct frontend http_frontend = {
    .name = "http",
    .listen = "127.0.0.1:8080",
    .alpn = "\x08http/1.1\x08http/1.0",
    .options = options,
    .options_size = sizeof(struct web_options),
    .shared_size = sizeof(struct web_shared),
    .conn_size = sizeof(struct web_conn),
    .check = check,
    .start = start,
    .name_host = name_host,
    .stop = stop,
    .reload = reload,
    .open = conn_open,
    .feed = web_feed,
    .filled = web_filled,
    .eof = conn_eof,
    .expired = web_expired,
    .stopping = web_stopping,
    .close = conn_close,
};
