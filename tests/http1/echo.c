/* SPDX-License-Identifier: MIT */
#include "tests/http1/echo.h"

#include "http1/caller.h"
#include "http1/http1_answer.h"
#include "http1/reply.h"

#include <stdio.h>
#include <string.h>

#define SMALL 10
#define WAIT_FOR SECONDS(3)

enum place { PLACE_NONE, PLACE_ECHO, PLACE_BLOB, PLACE_SLICES, PLACE_EVENTS, PLACE_WAIT };

struct echo_request {
    struct http1_request http1;
    enum place place;
    unsigned slices; // that are still to come
    bool chunked;
    char rest[100]; // not cleared
};

struct echo_shared {
    struct http1_shared http1;
    struct blob *blob;
};

char echo_nothing[] = "";
static unsigned forgotten, waiting;
static struct http1_conn *last;

static struct echo_request *request_of(const struct http1_conn *conn)
{
    return container_of(conn->request, struct echo_request, http1);
}

static void refuse_method(struct http1_conn *conn, struct slice target)
{
    http1_refuse(conn,
                 &(struct http1_reply){.status = 405, .extra = "Allow: GET\r\n", .shown = target},
                 "no such method");
}

static enum place place_of(struct slice target)
{
    static const struct {
        struct slice target;
        enum place place;
    } places[] = {
        {{"/echo", 5}, PLACE_ECHO},     {{"/small", 6}, PLACE_ECHO}, {{"/blob", 5}, PLACE_BLOB},
        {{"/slices", 7}, PLACE_SLICES}, {{"/wait", 5}, PLACE_WAIT},  {{"/events", 7}, PLACE_EVENTS},
    };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (slice_equal(target, places[i].target)) {
            return places[i].place;
        }
    }
    return PLACE_NONE;
}

static enum http1_next accept(struct http1_conn *conn, const struct http1_fields *fields,
                              const struct http1_framing *framing)
{
    struct echo_request *request = request_of(conn);

    (void)framing;
    for (const char *at = (const char *)request; at < request->rest; at++) {
        // All is zero but for what the connection has filled in.
        assert_true(at < (const char *)(&request->http1 + 1) || *at == 0);
    }
    request->place = place_of(fields->target);
    if (!http1_caller_note_origin(conn, fields)) {
        return HTTP1_NEXT_REQUEST;
    }
    if (fields->method == HTTP1_OPTIONS) {
        if (http1_caller_check_open(conn, fields)) {
            http1_reply(conn, &(struct http1_reply){.status = 204}, SLICE(""));
        }
        return HTTP1_NEXT_REQUEST;
    }
    if (!http1_caller_check(conn, fields)) {
        return HTTP1_NEXT_REQUEST;
    }
    if (slice_equal(fields->target, SLICE("/none"))) {
        http1_reply(conn, &(struct http1_reply){.status = 304, .extra = "ETag: \"1\"\r\n"},
                    SLICE(""));
        return HTTP1_NEXT_REQUEST;
    }
    if (slice_equal(fields->target, SLICE("/forbidden"))) {
        http1_caller_refuse(conn, fields->target);
        return HTTP1_NEXT_REQUEST;
    }
    if (request->place == PLACE_NONE) {
        http1_refuse_status(conn, 404, "there is no such thing");
        return HTTP1_NEXT_REQUEST;
    }
    if (slice_equal(fields->target, SLICE("/small"))) {
        request->http1.max_body = SMALL;
    }
    return HTTP1_NEXT_BODY;
}

static enum http1_next begin_slices(struct http1_conn *conn, const char *type)
{
    struct echo_request *request = request_of(conn);

    request->slices = ECHO_SLICES;
    request->chunked = http1_reply_open(conn, &(struct http1_reply){.status = 200, .type = type});
    waiting++;
    return HTTP1_NEXT_WAIT;
}

static enum http1_next complete(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    const struct http1_reply reply = {.status = 200, .type = "text/plain"};
    struct blob *large = container_of(conn->shared, struct echo_shared, http1)->blob;

    assert_true(!blob || blob_slice(blob).ptr == body.ptr);
    switch (request_of(conn)->place) {
    case PLACE_ECHO:
        http1_reply_head(conn, &reply, body.len);
        http1_reply_body(conn, body, blob);
        return HTTP1_NEXT_REQUEST;
    case PLACE_BLOB:
        http1_reply_blob(conn, &reply, large);
        return HTTP1_NEXT_REQUEST;
    case PLACE_SLICES:
        return begin_slices(conn, "text/plain");
    case PLACE_EVENTS:
        return begin_slices(conn, "text/event-stream");
    case PLACE_WAIT:
        waiting++;
        last = conn;
        conn->wire->deadline_at = nsec_add(broker_now(conn->shared->broker).mono, WAIT_FOR);
        return HTTP1_NEXT_WAIT;
    case PLACE_NONE:
        break;
    }
    fail_msg("%s", "a request for nothing was taken");
    return HTTP1_NEXT_REQUEST;
}

static enum http1_progress step(struct http1_conn *conn, struct feed_turn *turn)
{
    static char text[ECHO_SLICE];
    struct echo_request *request = request_of(conn);
    struct slice piece = slice_of(text, sizeof text);

    memset(text, 'x', sizeof text);
    if (request->slices == 0) {
        return HTTP1_BLOCKED;
    }
    if (!http1_slice_begins(conn, turn)) {
        return HTTP1_AGAIN;
    }
    if (request->place == PLACE_EVENTS) {
        http1_event(&conn->wire->out, request->chunked, ECHO_SLICES - request->slices + 1, "tick",
                    SLICE("{}"));
        request->slices--;
        return HTTP1_WROTE;
    }
    http1_piece(&conn->wire->out, request->chunked, &piece, 1);
    if (--request->slices > 0) {
        return HTTP1_WROTE;
    }
    http1_pieces_end(&conn->wire->out, request->chunked);
    return HTTP1_ENDED;
}

static bool expired(struct http1_conn *conn)
{
    http1_refuse_status(conn, 504, "it took too long");
    return true;
}

static void stopping(struct http1_conn *conn)
{
    conn->request->keep_alive = false;
    if (request_of(conn)->place == PLACE_WAIT) {
        http1_refuse(conn, &(struct http1_reply){.status = 503, .extra = HTTP1_RETRY}, HTTP1_STOPS);
    } else {
        http1_pieces_end(&conn->wire->out, request_of(conn)->chunked);
    }
}

static void no_memory(struct http1_conn *conn)
{
    http1_refuse(conn, &(struct http1_reply){.status = 503}, "no room at all");
}

static void forget(struct http1_request *request)
{
    struct echo_request *ours = container_of(request, struct echo_request, http1);

    forgotten++;
    if (ours->place == PLACE_WAIT || ours->slices > 0) {
        last = NULL;
    }
}

static size_t holds(const struct http1_request *request)
{
    (void)request;
    return 1000;
}

static const struct session_ops no_events;

#define TABLE                                                                                      \
    .texts = {HTTP1_TEXTS("echo"), HTTP1_ORIGIN_TEXTS("echo"), .bad_token = "a bad token",         \
              .forbidden = "not for you"},                                                         \
    .exposed = "X-Echo", .rights = MAY_OBSERVE, .session = &no_events,                             \
    .request_size = sizeof(struct echo_request),                                                   \
    .request_cleared = offsetof(struct echo_request, rest), .other_method = refuse_method,         \
    .accept = accept, .complete = complete
#define WHOLE                                                                                      \
    .step = step, .expired = expired, .stopping = stopping, .no_memory = no_memory,                \
    .forget = forget, .holds = holds

static const struct http1_user whole = {TABLE, WHOLE};
static const struct http1_user with_pages = {TABLE, WHOLE, .has_pages = true};
static const struct http1_user bare = {TABLE, .expired = expired};

static enum status start(void *state, struct broker *broker, const void *options,
                         const struct process_facts *facts)
{
    const struct echo_options *ours = options;
    struct echo_shared *shared = state;

    http1_shared_begin(&shared->http1,
                       ours->is_bare     ? &bare
                       : ours->has_pages ? &with_pages
                                         : &whole,
                       broker, &ours->http1, facts, NULL, 0);
    shared->blob = blob_new(ECHO_BLOB);
    if (!shared->blob) {
        return STATUS_NO_MEMORY;
    }
    memset(shared->blob->bytes, 'b', ECHO_BLOB);
    return STATUS_OK;
}

static void stop(void *state)
{
    struct echo_shared *shared = state;

    blob_unref(shared->blob);
}

static const struct frontend echo_frontend = {
    .name = "echo",
    .shared_size = sizeof(struct echo_shared),
    .conn_size = sizeof(struct http1_conn),
    .start = start,
    .stop = stop,
    .open = http1_open,
    .granted = http1_granted,
    .feed = http1_feed,
    .filled = http1_filled,
    .eof = http1_eof,
    .expired = http1_expired,
    .limits = http1_limits,
    .pace = http1_pace,
    .overdue = http1_overdue,
    .stopping = http1_stopping,
    .holds = http1_holds,
    .facts = http1_facts,
    .close = http1_close,
};

unsigned echo_forgotten(void)
{
    return forgotten;
}

unsigned echo_waiting(void)
{
    return waiting;
}

void echo_answer(const char *text)
{
    struct http1_conn *conn = last;

    assert_non_null(conn);
    http1_reply(conn, &(struct http1_reply){.status = 200}, slice_str(text));
    http1_answered(conn);
    wire_wake(conn->wire);
}

int echo_setup_with(void **state, struct echo_options settings, unsigned budget)
{
    static struct echo world;
    const struct rig_options options = {
        .frontend = &echo_frontend, .settings = &world.settings, .budget = budget};

    forgotten = 0;
    waiting = 0;
    last = NULL;
    world.settings = settings;
    world.rig = rig_new(&options);
    assert_non_null(world.rig);
    world.peer = peer_new(world.rig);
    assert_non_null(world.peer);
    *state = &world;
    return 0;
}

int echo_setup(void **state)
{
    return echo_setup_with(state, ECHO_DEFAULTS, 0);
}

int echo_teardown(void **state)
{
    struct echo *t = *state;

    rig_free(t->rig);
    return 0;
}

void echo_hears(struct peer *peer, struct slice said, struct slice heard, const char *file,
                int line)
{
    struct slice got = peer_ask(peer, said);

    if (!slice_equal(got, heard)) {
        print_error("said %.*s\nheard:\n%.*s\ninstead of:\n%.*s\n", (int)said.len, said.ptr,
                    (int)got.len, got.ptr, (int)heard.len, heard.ptr);
        _fail(file, line);
    }
}

void echo_begins(struct peer *peer, struct slice said, const char *heard, const char *file,
                 int line)
{
    struct slice got = peer_ask(peer, said);

    if (strncmp(got.len ? got.ptr : "", heard, strlen(heard)) != 0) {
        print_error("said %.*s\nheard:\n%.*s\nwhich does not begin: %s\n", (int)said.len, said.ptr,
                    (int)got.len, got.ptr, heard);
        _fail(file, line);
    }
}

void echo_refuses(struct peer *peer, struct slice said, const char *status, const char *extra,
                  const char *rest, const char *why, const char *file, int line)
{
    char body[300], heard[1200];
    int body_len = snprintf(body, sizeof body, "{\"error\": \"%s\"}\n", why);
    int len = snprintf(heard, sizeof heard,
                       "HTTP/1.1 %s\r\n" ECHO_COMMON "Content-Type: application/json\r\n%s"
                       "Content-Length: %d\r\n%s\r\n%s",
                       status, extra, body_len, rest, body);

    assert_true(len > 0 && (size_t)len < sizeof heard);
    echo_hears(peer, said, slice_of(heard, (size_t)len), file, line);
}
