/* SPDX-License-Identifier: MIT */

// Limits of size and of time.

#include "tests/proto_http/wire_http.h"

#include <stdio.h>
#include <string.h>

#define BACKGROUND "X-Gearman-Background: 1\r\n"
#define HELD "Host: localhost\r\n"
// A deadline of a connection may lie up to a second later than the setting says.
#define SLACK SECONDS(1)
// How long what a refused client still sends is thrown away, and a deadline's second.
#define LINGER (SECONDS(5) + SLACK)

//
// Heads
//

// A request whose head has `len` bytes.
static struct slice head_of(size_t len)
{
    static char head[40000];
    const char *start = "GET / HTTP/1.1\r\n" HELD "X: ";
    size_t fill = len - strlen(start) - 4;

    assert_true(len < sizeof head);
    (void)snprintf(head, sizeof head, "%s%s\r\n\r\n", start, gear_run('x', fill));
    assert_int_equal(strlen(head), len);
    return slice_of(head, len);
}

static void a_head_may_be_as_long_as_the_configuration_says(void **state)
{
    struct web *t = *state;

    stays(t->a, asks(t->a, head_of(16384), 404));
    ends(t->a, asks(t->a, head_of(16385), 431));
    t->settings.max_header_bytes = 1024;
    stays(t->b, asks(t->b, head_of(1024), 404));
    ends(t->b, asks(t->b, head_of(1025), 431));
}

static void a_head_without_an_end_is_refused_when_it_is_too_long(void **state)
{
    struct web *t = *state;
    struct slice head = head_of(16385);

    waits(t->a, slice_of(head.ptr, 16383));
    ends(t->a, asks(t->a, slice_of(head.ptr, 1), 431));
    ends(t->b, asks(t->b, slice_of(gear_run('G', 20000), 20000), 431));
}

// A request with `count` headers, Host among them.
static struct slice with_headers(int count)
{
    static char head[200000];
    size_t len = (size_t)snprintf(head, sizeof head, "GET / HTTP/1.1\r\n" HELD);

    for (int i = 1; i < count; i++) {
        len += (size_t)snprintf(head + len, sizeof head - len, "a:\r\n");
    }
    len += (size_t)snprintf(head + len, sizeof head - len, "\r\n");
    return slice_of(head, len);
}

static void a_head_has_at_most_100_headers(void **state)
{
    struct web *t = *state;

    stays(t->a, asks(t->a, with_headers(100), 404));
    ends(t->a, asks(t->a, with_headers(101), 431));
    ends(t->b, asks(t->b, with_headers(9000), 431));
}

static void each_head_of_a_pipeline_has_its_own_limits(void **state)
{
    struct web *t = *state;
    struct http_answer answer;
    struct slice heard;

    peer_send(t->a, with_headers(100));
    peer_send(t->a, head_of(16384));
    peer_send(t->a, with_headers(100));
    rig_run(t->rig);
    heard = peer_hear(t->a);
    for (int i = 0; i < 3; i++) {
        assert_true(http_take(&heard, false, &answer));
        assert_int_equal(answer.status, 404);
    }
}

//
// Bodies
//

static void a_body_may_be_as_long_as_the_configuration_says(void **state)
{
    struct web *t = *state;

    t->settings.max_body = 10;
    stays(t->a, asks(t->a, POST("/f", BACKGROUND, "0123456789"), 200));
    stays(t->a, asks(t->a, http_chunked("/f", BACKGROUND, SLICE("0123456789")), 200));
    stays(t->a, asks(t->a,
                     SLICE("POST /f HTTP/1.1\r\n" HELD BACKGROUND "Transfer-Encoding: chunked\r\n"
                           "\r\n4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n"),
                     200));
    assert_int_equal(http_jobs(t), 3);
}

static void a_longer_body_is_refused_when_it_is_announced(void **state)
{
    struct web *t = *state;

    t->settings.max_body = 10;
    ends(t->a, asks(t->a, SLICE("POST /f HTTP/1.1\r\n" HELD "Content-Length: 11\r\n\r\n"), 413));
    ends(t->b,
         asks(t->b,
              SLICE("POST /f HTTP/1.1\r\n" HELD "Content-Length: 9999999999999999999\r\n\r\n"),
              413));
    assert_int_equal(http_jobs(t), 0);
}

static void a_longer_body_in_chunks_is_refused_when_it_is_seen(void **state)
{
    struct web *t = *state;

    t->settings.max_body = 10;
    waits(t->a, SLICE("POST /f HTTP/1.1\r\n" HELD "Transfer-Encoding: chunked\r\n\r\n"
                      "4\r\n0123\r\n7\r\n"));
    ends(t->a, asks(t->a, SLICE("4"), 413));
    ends(t->b,
         asks(t->b, http_chunked("/f", BACKGROUND, slice_of(gear_run('x', 100000), 100000)), 413));
    assert_int_equal(http_jobs(t), 0);
}

static void what_a_refused_client_still_sends_is_thrown_away(void **state)
{
    struct web *t = *state;

    t->settings.max_body = 10;
    asks(t->a, http_post("/f", BACKGROUND, slice_of(gear_run('x', 100000), 100000)), 413);
    assert_true(peer_shut(t->a));
    assert_false(peer_closed(t->a));
    for (int i = 0; i < 100; i++) {
        waits(t->a, POST("/f", BACKGROUND, "x"));
    }
    assert_int_equal(peer_kept(t->a), 0);
    rig_advance(t->rig, LINGER);
    assert_true(peer_closed(t->a));
    silent(t->a);
    assert_int_equal(http_jobs(t), 0);
}

static void a_body_of_no_bytes_is_always_taken(void **state)
{
    struct web *t = *state;

    t->settings.max_body = 0;
    asks(t->a, POST("/f", BACKGROUND, ""), 200);
    asks(t->a, http_bare("PUT", "/f", BACKGROUND), 200);
    asks(t->a,
         SLICE("POST /f HTTP/1.1\r\n" HELD BACKGROUND "Transfer-Encoding: chunked\r\n\r\n"
               "0\r\n\r\n"),
         200);
    asks(t->a, http_chunked("/f", BACKGROUND, SLICE("x")), 413);
}

//
// Results
//

static void a_result_may_be_as_long_as_the_configuration_says(void **state)
{
    struct web *t = *state;

    t->settings.max_result = 10;
    waits(t->a, POST("/f", "", "x"));
    http_completes(t->w, "x", "0123456789");
    body_is(answered(t->a, 200), "0123456789");
    waits(t->a, POST("/f", "", "x"));
    http_can_do(t->w, "f");
    gear_says(t->w, REQ(WORK_DATA, grabs(t->w, "f", "x"), "01234"), NOTHING);
    gear_says(t->w, REQ(WORK_COMPLETE, H(2), "56789"), NOTHING);
    body_is(answered(t->a, 200), "0123456789");
}

static void a_longer_result_is_502(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    t->settings.max_result = 10;
    waits(t->a, POST("/f", "", "x"));
    http_completes(t->w, "x", "0123456789a");
    answer = answered(t->a, 502);
    field_is(answer, "X-Gearman-Command", NULL);
    field_is(answer, "X-Gearman-Job-Handle", H(1));
    stays(t->a, answer);
    waits(t->a, POST("/f", "", "x"));
    http_can_do(t->w, "f");
    gear_says(t->w,
              MANY(REQ(WORK_DATA, grabs(t->w, "f", "x"), "0123456789a"), REQ(WORK_DATA, H(2), "b"),
                   REQ(WORK_COMPLETE, H(2), "")),
              NOTHING);
    answered(t->a, 502);
    waits(t->a, POST("/f", "", "x"));
    gear_says(t->w, REQ(WORK_DATA, grabs(t->w, "f", "x"), "012345"), NOTHING);
    gear_says(t->w, REQ(WORK_COMPLETE, H(3), "6789a"), NOTHING);
    answered(t->a, 502);
}

static void a_result_that_was_too_long_is_forgotten_by_a_retry(void **state)
{
    struct web *t = *state;

    t->settings.max_result = 10;
    waits(t->a, POST("/f", "", "x"));
    http_can_do(t->w, "f");
    gear_says(t->w, REQ(WORK_DATA, grabs(t->w, "f", "x"), "0123456789a"), NOTHING);
    peer_free(t->w);
    http_completes(t->v, "x", "short");
    body_is(answered(t->a, 200), "short");
}

static void a_job_that_fails_after_too_much_data_has_failed(void **state)
{
    struct web *t = *state;

    t->settings.max_result = 10;
    waits(t->a, POST("/f", "", "x"));
    http_can_do(t->w, "f");
    gear_says(t->w,
              MANY(REQ(WORK_DATA, grabs(t->w, "f", "x"), "0123456789a"), REQ(WORK_FAIL, H(1))),
              NOTHING);
    field_is(answered(t->a, 500), "X-Gearman-Command", "WORK_FAIL");
}

//
// Time
//

static void a_head_must_be_complete_in_time(void **state)
{
    struct web *t = *state;

    for (int i = 0; i < 9; i++) {
        waits(t->a, slice_of(&"GET / HTTP/1.1\r\n"[i], 1));
        rig_advance(t->rig, SECONDS(1));
    }
    silent(t->a);
    rig_advance(t->rig, SECONDS(1) + SLACK);
    field_is(answered(t->a, 408), "Connection", "close");
    assert_true(peer_closed(t->a));
}

static void a_second_head_has_its_own_time(void **state)
{
    struct web *t = *state;

    rig_advance(t->rig, SECONDS(60));
    asks(t->a, MANY(http_get("/", ""), SLICE("GET")), 404);
    rig_advance(t->rig, SECONDS(10) + SLACK);
    answered(t->a, 408);
    assert_true(peer_closed(t->a));
}

static void a_body_must_go_on_by_a_kib_in_time(void **state)
{
    struct web *t = *state;

    waits(t->a, SLICE("POST /f HTTP/1.1\r\n" HELD BACKGROUND "Content-Length: 3000\r\n\r\n"));
    waits(t->b, SLICE("POST /f HTTP/1.1\r\n" HELD BACKGROUND "Transfer-Encoding: chunked\r\n\r\n"));
    rig_advance(t->rig, SECONDS(59));
    waits(t->a, slice_of(gear_run('x', 1024), 1024));
    waits(t->b, SLICE("1\r\nx\r\n"));
    rig_advance(t->rig, SECONDS(59));
    waits(t->a, SLICE("x"));
    field_is(answered(t->b, 408), "Connection", "close");
    assert_true(peer_closed(t->b));
    rig_advance(t->rig, SECONDS(1) + SLACK);
    answered(t->a, 408);
    assert_int_equal(http_jobs(t), 0);
}

static void the_rest_of_a_body_may_be_less(void **state)
{
    struct web *t = *state;

    waits(t->a, SLICE("POST /f HTTP/1.1\r\n" HELD BACKGROUND "Content-Length: 20\r\n\r\n"));
    rig_advance(t->rig, SECONDS(59));
    asks(t->a, SLICE("xxxxxxxxxxxxxxxxxxxx"), 200);
    // The next one has its own time.
    waits(t->a, SLICE("POST /f HTTP/1.1\r\n" HELD BACKGROUND "Content-Length: 2\r\n\r\n"));
    rig_advance(t->rig, SECONDS(59));
    asks(t->a, SLICE("xx"), 200);
}

static void a_large_body_may_take_its_time_as_long_as_enough_comes(void **state)
{
    struct web *t = *state;

    waits(t->a, SLICE("POST /f HTTP/1.1\r\n" HELD BACKGROUND "Content-Length: 100000\r\n\r\n"));
    for (int i = 0; i < 9; i++) {
        waits(t->a, slice_of(gear_run('x', 10000), 10000));
        rig_advance(t->rig, SECONDS(59));
    }
    silent(t->a);
    rig_advance(t->rig, SECONDS(1) + SLACK);
    answered(t->a, 408);
    assert_true(peer_closed(t->a));
}

static void an_idle_connection_is_closed_without_a_word(void **state)
{
    struct web *t = *state;

    asks(t->a, http_get("/", ""), 404);
    rig_advance(t->rig, SECONDS(74));
    assert_false(peer_closed(t->a));
    asks(t->a, http_get("/", ""), 404);
    rig_advance(t->rig, SECONDS(74));
    assert_false(peer_closed(t->a));
    rig_advance(t->rig, SECONDS(1) + SLACK);
    assert_true(peer_closed(t->a));
    silent(t->a);
    assert_true(peer_closed(t->b));
}

static void empty_lines_begin_no_request_however_they_are_cut(void **state)
{
    struct web *t = *state;

    waits(t->a, SLICE("\r\n"));
    waits(t->b, SLICE("\r"));
    waits(t->b, SLICE("\n"));
    rig_advance(t->rig, SECONDS(74));
    assert_false(peer_closed(t->a) || peer_closed(t->b));
    rig_advance(t->rig, SECONDS(1) + SLACK);
    assert_true(peer_closed(t->a) && peer_closed(t->b));
    silent(t->a);
    silent(t->b);
}

static void a_request_that_waits_is_not_idle(void **state)
{
    struct web *t = *state;

    waits(t->a, http_get("/f?x", ""));
    waits(t->b, SLICE("POST /f HTTP/1.1\r\n" HELD "Content-Length: 1\r\n\r\n"));
    waits(t->b, SLICE("y"));
    rig_advance(t->rig, SECONDS(100000));
    http_completes(t->w, "x", "r");
    stays(t->a, answered(t->a, 200));
    http_completes(t->w, "y", "r");
    stays(t->b, answered(t->b, 200));
    rig_advance(t->rig, SECONDS(75) + SLACK);
    assert_true(peer_closed(t->a) && peer_closed(t->b));
}

static void what_waits_behind_a_request_has_time_from_its_answer(void **state)
{
    struct web *t = *state;

    waits(t->a, MANY(POST("/f", "", "x"), SLICE("GET / HTTP/1.1\r\n")));
    rig_advance(t->rig, SECONDS(1000));
    http_completes(t->w, "x", "r");
    answered(t->a, 200);
    rig_advance(t->rig, SECONDS(9));
    silent(t->a);
    rig_advance(t->rig, SECONDS(1) + SLACK);
    answered(t->a, 408);
}

static void nothing_is_hurried_where_the_times_are_0(void **state)
{
    struct web *t = *state;
    struct peer *peer;

    t->settings.idle_timeout = 0;
    t->settings.header_timeout = 0;
    t->settings.body_timeout = 0;
    peer = peer_new(t->rig);
    rig_advance(t->rig, SECONDS(1000000));
    waits(peer, SLICE("POST /f HTTP/1.1\r\n"));
    rig_advance(t->rig, SECONDS(1000000));
    waits(peer, SLICE(HELD BACKGROUND "Content-Length: 2\r\n\r\nx"));
    rig_advance(t->rig, SECONDS(1000000));
    asks(peer, SLICE("y"), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(a_head_may_be_as_long_as_the_configuration_says),
        HTTP(a_head_without_an_end_is_refused_when_it_is_too_long),
        HTTP(a_head_has_at_most_100_headers),
        HTTP(each_head_of_a_pipeline_has_its_own_limits),
        HTTP(a_body_may_be_as_long_as_the_configuration_says),
        HTTP(a_longer_body_is_refused_when_it_is_announced),
        HTTP(a_longer_body_in_chunks_is_refused_when_it_is_seen),
        HTTP(what_a_refused_client_still_sends_is_thrown_away),
        HTTP(a_body_of_no_bytes_is_always_taken),
        HTTP(a_result_may_be_as_long_as_the_configuration_says),
        HTTP(a_longer_result_is_502),
        HTTP(a_result_that_was_too_long_is_forgotten_by_a_retry),
        HTTP(a_job_that_fails_after_too_much_data_has_failed),
        HTTP(a_head_must_be_complete_in_time),
        HTTP(a_second_head_has_its_own_time),
        HTTP(a_body_must_go_on_by_a_kib_in_time),
        HTTP(the_rest_of_a_body_may_be_less),
        HTTP(a_large_body_may_take_its_time_as_long_as_enough_comes),
        HTTP(an_idle_connection_is_closed_without_a_word),
        HTTP(empty_lines_begin_no_request_however_they_are_cut),
        HTTP(a_request_that_waits_is_not_idle),
        HTTP(what_waits_behind_a_request_has_time_from_its_answer),
        HTTP(nothing_is_hurried_where_the_times_are_0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
