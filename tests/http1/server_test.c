/* SPDX-License-Identifier: MIT */

// A server in memory that is made of HTTP/1.1 alone: requests in, answers out. It is linked without
// the scheduler and without a front-end: whatever else speaks HTTP here can do the same.

#include "http1/http1_answer.h"
#include "http1/chunk.h"
#include "http1/head.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HEAD_MOST 1024
#define BODY_MOST 256
#define HEARD_MOST 8192
#define NOON_1970 (INT64_C(12) * 3600 * NSEC_PER_SEC)

#define COMMON "Server: Tandem/test\r\nDate: Thu, 01 Jan 1970 12:00:00 GMT\r\n"

enum own_field { OWN_NAME = HTTP1_FIELD_COUNT };
static const char *const own[] = {"X-Name"};

enum state { STATE_HEAD, STATE_BODY, STATE_CHUNKS, STATE_CLOSED };

// The server and its one connection.
struct server {
    struct output_pool pool;
    struct output out;
    struct http1_names names;
    struct http1_common common;
    enum state state;
    struct http1_head_scan scan;
    struct http1_chunks chunks;
    struct http1_framing framing;
    bool version_1_0, keep_alive, events;
    char name[BODY_MOST]; // what X-Name says
    char body[BODY_MOST];
    size_t body_len;
};

//
// Answers
//

static void begin_answer(struct server *server, struct http1_answer *answer, unsigned status)
{
    assert_true(http1_answer_begin(answer, &server->out, status, server->version_1_0));
    http1_answer_common(answer, &server->common, "test", NOON_1970);
    http1_answer_header(answer, SLICE("X-Name: "), *server->name ? server->name : NULL);
}

static void answer_with(struct server *server, unsigned status, struct slice body)
{
    struct http1_answer answer;

    begin_answer(server, &answer, status);
    http1_answer_length(&answer, body.len);
    http1_answer_end(&answer, server->keep_alive);
    output_write(&server->out, body);
}

// The body comes back as two events.
static void answer_events(struct server *server)
{
    struct slice body = slice_of(server->body, server->body_len);
    bool chunked = !server->version_1_0;
    struct http1_answer answer;

    server->keep_alive = server->keep_alive && chunked;
    begin_answer(server, &answer, 200);
    http1_answer_header(&answer, SLICE("Content-Type: "), "text/event-stream");
    if (chunked) {
        http1_answer_chunked(&answer);
    }
    http1_answer_end(&answer, server->keep_alive);
    http1_event(&server->out, chunked, 1, "begun", SLICE("{}"));
    http1_event(&server->out, chunked, 2, "done", body);
    http1_pieces_end(&server->out, chunked);
}

static void finish_request(struct server *server)
{
    if (server->events) {
        answer_events(server);
    } else {
        answer_with(server, 200, slice_of(server->body, server->body_len));
    }
    server->state = server->keep_alive ? STATE_HEAD : STATE_CLOSED;
    server->scan = (struct http1_head_scan){0};
    server->chunks = (struct http1_chunks){0};
    server->body_len = 0;
}

static void refuse(struct server *server, unsigned status, const char *why)
{
    server->keep_alive = false;
    answer_with(server, status, slice_str(why));
    server->state = STATE_CLOSED;
}

//
// Requests
//

static void begin_request(struct server *server, const struct http1_fields *fields, bool good)
{
    struct http1_refusal refusal = {400, "unreadable"};
    struct slice name;

    server->version_1_0 = fields->version_1_0;
    if (!good || !http1_framing_read(fields, &server->framing, &refusal)) {
        refuse(server, refusal.status, refusal.why);
        return;
    }
    server->keep_alive = fields->keep_alive;
    server->events = fields->events;
    name = fields->values[OWN_NAME];
    assert_true(name.len < sizeof server->name);
    memcpy(server->name, name.len ? name.ptr : "", name.len);
    server->name[name.len] = '\0';
    server->state = server->framing.chunked ? STATE_CHUNKS : STATE_BODY;
}

// True: there is more to do with the input.
static bool take_head(struct server *server, struct slice *input)
{
    struct http1_fields fields;
    enum http1_head_result verdict =
        http1_head_read(&server->scan, *input, HEAD_MOST, &server->names, &fields);

    switch (verdict) {
    case HTTP1_HEAD_MORE:
        return false;
    case HTTP1_HEAD_DONE:
    case HTTP1_HEAD_REFUSED:
        *input = slice_from(*input, fields.head_len);
        begin_request(server, &fields, verdict == HTTP1_HEAD_DONE);
        return true;
    case HTTP1_HEAD_BAD:
    case HTTP1_HEAD_VERSION:
    case HTTP1_HEAD_LONG:
        break;
    }
    refuse(server, 400, "malformed");
    return true;
}

static size_t keep(struct server *server, struct slice *input, uint64_t missing)
{
    size_t len = input->len < missing ? input->len : (size_t)missing;

    assert_true(len <= sizeof server->body - server->body_len);
    memcpy(server->body + server->body_len, len ? input->ptr : "", len);
    server->body_len += len;
    *input = slice_from(*input, len);
    return len;
}

static bool take_body(struct server *server, struct slice *input)
{
    (void)keep(server, input, server->framing.len - server->body_len);
    if (server->body_len < server->framing.len) {
        return false;
    }
    finish_request(server);
    return true;
}

static bool take_chunks(struct server *server, struct slice *input)
{
    switch (http1_chunk_next(&server->chunks, input)) {
    case HTTP1_CHUNK_MORE:
        return false;
    case HTTP1_CHUNK_DATA_NEXT:
        http1_chunk_taken(&server->chunks, keep(server, input, server->chunks.left));
        return true;
    case HTTP1_CHUNK_DONE:
        finish_request(server);
        return true;
    case HTTP1_CHUNK_BAD:
        break;
    }
    refuse(server, 400, "bad chunks");
    return true;
}

// Takes what it can of the input; returns what is to be passed again, with more behind it.
static struct slice take(struct server *server, struct slice input)
{
    bool on = true;

    while (on && (input.len > 0 || server->state == STATE_BODY)) {
        switch (server->state) {
        case STATE_HEAD:
            on = take_head(server, &input);
            break;
        case STATE_BODY:
            on = take_body(server, &input);
            break;
        case STATE_CHUNKS:
            on = take_chunks(server, &input);
            break;
        case STATE_CLOSED:
            return slice_from(input, input.len);
        }
    }
    return input;
}

//
// Conversations
//

struct heard {
    size_t len;
    char bytes[HEARD_MOST];
    bool closed;
};

static void hear(struct server *server, struct heard *heard)
{
    struct slice span;

    while (output_peek(&server->out, &span, 1) > 0) {
        assert_true(span.len <= sizeof heard->bytes - heard->len);
        memcpy(heard->bytes + heard->len, span.ptr, span.len);
        heard->len += span.len;
        output_consume(&server->out, span.len);
    }
    heard->closed = server->state == STATE_CLOSED;
}

// The reply on a new connection, which first receives `cut` bytes of that.
static void converse(struct slice said, size_t cut, struct heard *heard)
{
    struct server server = {.state = STATE_HEAD};
    struct slice rest;

    heard->len = 0;
    http1_names_begin(&server.names, own, sizeof own / sizeof *own);
    output_init(&server.out, &server.pool);
    rest = take(&server, slice_of(said.ptr, cut));
    (void)take(&server, slice_of(rest.ptr, (size_t)(slice_end(said) - rest.ptr)));
    hear(&server, heard);
    output_clear(&server.out);
    output_pool_clear(&server.pool);
}

// However the request is cut in two.
static void answers(struct slice said, struct slice expected, bool closed)
{
    static struct heard heard;

    for (size_t cut = 0; cut <= said.len; cut++) {
        converse(said, cut, &heard);
        if (!slice_equal(slice_of(heard.bytes, heard.len), expected) || heard.closed != closed) {
            fail_msg("cut at %zu: %.*s", cut, (int)heard.len, heard.bytes);
        }
    }
}

#define HOST "Host: localhost\r\n"
#define OK(length) "HTTP/1.1 200 OK\r\n" COMMON "Content-Length: " length "\r\n\r\n"

static void requests_are_answered_in_turn_on_one_connection(void **state)
{
    (void)state;
    answers(SLICE("POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nfirst"
                  "GET / HTTP/1.1\r\n" HOST "\r\n"
                  "PUT / HTTP/1.1\r\n" HOST "Content-Length: 6\r\n\r\nsecond"),
            SLICE(OK("5") "first" OK("0") OK("6") "second"), false);
}

static void the_users_header_is_read_and_written(void **state)
{
    (void)state;
    answers(SLICE("GET / HTTP/1.1\r\n" HOST "x-nAME: \t it \r\nX-Namely: no\r\n\r\n"),
            SLICE("HTTP/1.1 200 OK\r\n" COMMON "X-Name: it\r\nContent-Length: 0\r\n\r\n"), false);
}

static void a_connection_closes_when_it_is_asked_to(void **state)
{
    (void)state;
    answers(SLICE("GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\nGET"),
            SLICE("HTTP/1.1 200 OK\r\n" COMMON "Content-Length: 0\r\nConnection: close\r\n\r\n"),
            true);
    answers(
        SLICE("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
        SLICE("HTTP/1.0 200 OK\r\n" COMMON "Content-Length: 0\r\nConnection: keep-alive\r\n\r\n"),
        false);
}

static void a_body_may_come_in_chunks(void **state)
{
    (void)state;
    answers(SLICE("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                  "3\r\none\r\n0a\r\n, and two.\r\n0\r\n\r\n"
                  "GET / HTTP/1.1\r\n" HOST "\r\n"),
            SLICE(OK("13") "one, and two." OK("0")), false);
}

static void events_are_chunks_or_end_with_the_connection(void **state)
{
    (void)state;
    answers(SLICE("POST / HTTP/1.1\r\n" HOST "Accept: text/event-stream\r\n"
                  "Content-Length: 2\r\n\r\n[]"),
            SLICE("HTTP/1.1 200 OK\r\n" COMMON "Content-Type: text/event-stream\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n"
                  "1d\r\nid: 1\nevent: begun\ndata: {}\n\n\r\n"
                  "1c\r\nid: 2\nevent: done\ndata: []\n\n\r\n0\r\n\r\n"),
            false);
    answers(SLICE("POST / HTTP/1.0\r\nConnection: keep-alive\r\nAccept: text/event-stream\r\n"
                  "Content-Length: 2\r\n\r\n[]"),
            SLICE("HTTP/1.0 200 OK\r\n" COMMON "Content-Type: text/event-stream\r\n"
                  "Connection: close\r\n\r\n"
                  "id: 1\nevent: begun\ndata: {}\n\nid: 2\nevent: done\ndata: []\n\n"),
            true);
}

#define DATED(second)                                                                              \
    "HTTP/1.1 200 OK\r\nServer: Tandem/test\r\n"                                                   \
    "Date: Thu, 01 Jan 1970 12:00:" second " GMT\r\n\r\n"

// Date is written once for all answers of a second.
static void the_date_is_that_of_the_answer(void **state)
{
    static struct heard heard;
    struct server server = {.state = STATE_HEAD};
    struct http1_answer answer;

    (void)state;
    heard.len = 0;
    output_init(&server.out, &server.pool);
    for (int i = 0; i < 3; i++) {
        assert_true(http1_answer_begin(&answer, &server.out, 200, false));
        http1_answer_common(&answer, &server.common, "test", NOON_1970 + i * NSEC_PER_SEC / 2);
        http1_answer_end(&answer, true);
    }
    hear(&server, &heard);
    assert_true(
        slice_equal(slice_of(heard.bytes, heard.len), SLICE(DATED("00") DATED("00") DATED("01"))));
    output_pool_clear(&server.pool);
}

#define CLOSE "Connection: close\r\n\r\n"
#define REFUSED(length) "HTTP/1.1 400 Bad Request\r\n" COMMON "Content-Length: " length "\r\n" CLOSE

static void what_is_malformed_closes_the_connection(void **state)
{
    (void)state;
    answers(SLICE("GET / HTTP/1.1\nHost: x\r\n\r\n"), SLICE(REFUSED("9") "malformed"), true);
    answers(SLICE("GET / HTTP/1.1\r\n" HOST "Content-Length: x\r\n\r\n"),
            SLICE(REFUSED("10") "unreadable"), true);
    answers(SLICE("GET / HTTP/1.1\r\n\r\n"), SLICE(REFUSED("28") "exactly one Host is required"),
            true);
    answers(SLICE("GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1;a\r\n"),
            SLICE(REFUSED("10") "bad chunks"), true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_answered_in_turn_on_one_connection),
        cmocka_unit_test(the_users_header_is_read_and_written),
        cmocka_unit_test(a_connection_closes_when_it_is_asked_to),
        cmocka_unit_test(a_body_may_come_in_chunks),
        cmocka_unit_test(events_are_chunks_or_end_with_the_connection),
        cmocka_unit_test(the_date_is_that_of_the_answer),
        cmocka_unit_test(what_is_malformed_closes_the_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
