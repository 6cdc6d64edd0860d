/* SPDX-License-Identifier: MIT */

// Connections: when they stay, in which order requests are answered, and answers without a body.

#include "tests/proto_http/wire_http.h"

#include <stdio.h>
#include <string.h>

#define BACKGROUND "X-Gearman-Background: 1\r\n"
#define HELD "Host: localhost\r\n"

//
// Staying and going
//

static void http_1_1_stays_unless_it_is_asked_to_go(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer = asks(t->a, POST("/f", BACKGROUND, "x"), 200);

    field_is(answer, "Connection", NULL);
    stays(t->a, answer);
    stays(t->a, asks(t->a, POST("/f", BACKGROUND "Connection: keep-alive\r\n", "x"), 200));
    stays(t->a, asks(t->a, POST("/f", BACKGROUND "Connection: foo, bar\r\n", "x"), 200));
    ends(t->a, asks(t->a, POST("/f", BACKGROUND "Connection: close\r\n", "x"), 200));
    assert_true(peer_closed(t->a));
}

static void close_is_heard_wherever_it_stands(void **state)
{
    static const char *const headers[] = {
        "Connection: Close\r\n",
        "Connection: foo , CLOSE\t,bar\r\n",
        "Connection: keep-alive, close\r\n",
        "Connection: close\r\nConnection: keep-alive\r\n",
        "Connection: keep-alive\r\nConnection: close\r\n",
    };
    struct web *t = *state;

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct peer *peer = peer_new(t->rig);

        ends(peer, asks(peer, http_get("/", headers[i]), 404));
        assert_true(peer_closed(peer));
        peer_free(peer);
    }
}

static void http_1_0_goes_unless_it_is_asked_to_stay(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer =
        asks(t->a, SLICE("POST /f HTTP/1.0\r\n" BACKGROUND "Connection: Keep-Alive\r\n\r\n"), 200);

    assert_int_equal(answer->minor, 0);
    field_is(answer, "Connection", "keep-alive");
    assert_false(peer_closed(t->a));
    answer = asks(t->a, SLICE("POST /f HTTP/1.0\r\n" BACKGROUND "\r\n"), 200);
    assert_int_equal(answer->minor, 0);
    ends(t->a, answer);
    assert_true(peer_closed(t->a));
    ends(t->b,
         asks(t->b, SLICE("GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n"),
              404));
}

static void each_is_answered_in_its_own_version(void **state)
{
    static const char *const requests[] = {
        "GET / HTTP/1.0\r\n\r\n",
        "GET /%00 HTTP/1.0\r\n\r\n",
        "PATCH /f HTTP/1.0\r\n\r\n",
        "HEAD / HTTP/1.0\r\n\r\n",
        "OPTIONS / HTTP/1.0\r\n\r\n",
        "GET /-/jobs/x HTTP/1.0\r\n\r\n",
        "GET /f HTTP/1.0\r\nX-Gearman-Ttr: x\r\n\r\n",
        "POST /f HTTP/1.0\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
    };
    struct web *t = *state;

    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct peer *peer = peer_new(t->rig);
        struct slice heard = peer_ask(peer, slice_str(requests[i]));

        assert_true(heard.len > 8);
        if (memcmp(heard.ptr, "HTTP/1.0", 8) != 0) {
            fail_msg("%s: %.*s", requests[i], 60, heard.ptr);
        }
        peer_free(peer);
    }
}

static void bytes_after_the_last_request_are_not_read(void **state)
{
    struct web *t = *state;

    asks(t->a,
         MANY(POST("/f", BACKGROUND "Connection: close\r\n", "x"), POST("/f", BACKGROUND, "y")),
         200);
    assert_int_equal(http_jobs(t), 1);
    assert_true(peer_closed(t->a));
    asks(t->b,
         SLICE("POST /f HTTP/1.0\r\n" BACKGROUND "\r\nPOST /f HTTP/1.0\r\n" BACKGROUND "\r\n"),
         200);
    assert_int_equal(http_jobs(t), 2);
}

static void what_follows_a_foreground_request_that_ends_the_connection_is_not_read(void **state)
{
    struct web *t = *state;

    waits(t->a, MANY(POST("/f", "Connection: close\r\n", "x"), POST("/f", BACKGROUND, "y")));
    http_completes(t->w, "x", "r");
    ends(t->a, answered(t->a, 200));
    assert_true(peer_closed(t->a));
    assert_int_equal(http_jobs(t), 0);
}

static void empty_lines_in_front_of_a_request_are_passed_over(void **state)
{
    struct web *t = *state;

    stays(t->a, asks(t->a, SLICE("\r\n\r\nGET / HTTP/1.1\r\n" HELD "\r\n\r\n"), 404));
    stays(t->a, asks(t->a, SLICE("\r\nGET / HTTP/1.1\r\n" HELD "\r\n"), 404));
}

//
// Pipelines
//

static void pipelined_requests_are_answered_in_their_order(void **state)
{
    struct web *t = *state;
    struct http_answer answer;
    struct slice heard;
    static const unsigned statuses[] = {200, 404, 405, 200, 400, 204};

    heard = peer_ask(t->a,
                     MANY(POST("/f", BACKGROUND, "1"), http_get("/", ""),
                          http_bare("DELETE", "/f", ""), http_chunked("/f", BACKGROUND, SLICE("2")),
                          POST("/f?x", "", ""), http_bare("OPTIONS", "*", "")));
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        assert_true(http_take(&heard, false, &answer));
        assert_int_equal(answer.status, statuses[i]);
    }
    assert_int_equal(heard.len, 0);
    assert_int_equal(http_jobs(t), 2);
}

static void a_foreground_request_in_front_holds_the_others(void **state)
{
    struct web *t = *state;
    struct http_answer answer;
    struct slice heard;

    waits(t->a, MANY(POST("/f", "", "1"), POST("/f", BACKGROUND, "2"), http_get("/f?3", "")));
    waits(t->a, http_get("/-/x", ""));
    assert_true(peer_blocked(t->a));
    assert_int_equal(http_jobs(t), 1);
    http_completes(t->w, "1", "one");
    heard = peer_hear(t->a);
    assert_true(http_take(&heard, false, &answer));
    body_is(&answer, "one");
    assert_true(http_take(&heard, false, &answer));
    field_is(&answer, "X-Gearman-Job-Handle", H(2));
    assert_int_equal(heard.len, 0);
    http_completes(t->w, "2", "");
    silent(t->a);
    http_completes(t->w, "3", "three");
    heard = peer_hear(t->a);
    assert_true(http_take(&heard, false, &answer));
    body_is(&answer, "three");
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 404);
    assert_int_equal(heard.len, 0);
}

static void a_request_that_times_out_lets_the_next_one_go_on(void **state)
{
    struct web *t = *state;
    struct http_answer answer;
    struct slice heard;

    waits(t->a, MANY(POST("/f", "X-Gearman-Timeout: 5\r\n", "1"), POST("/f", BACKGROUND, "2")));
    rig_advance(t->rig, SECONDS(5));
    heard = peer_hear(t->a);
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 504);
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 200);
    assert_int_equal(heard.len, 0);
}

static int setup_budget(void **state)
{
    return http_setup_with(state, (struct rig_options){.budget = 2}, HTTP_DEFAULTS);
}

static void a_turn_begins_as_many_requests_as_it_may(void **state)
{
    struct web *t = *state;
    struct http_answer answer;
    struct slice heard;

    peer_send(t->a, MANY(http_get("/1", "Last-Event-ID: 1\r\n"), POST("/f", BACKGROUND, "2"),
                         http_get("/", ""), http_get("/", "")));
    for (int turn = 0; turn < 2; turn++) {
        rig_feed(t->rig);
        heard = peer_hear(t->a);
        assert_true(http_take(&heard, false, &answer) && http_take(&heard, false, &answer));
        assert_int_equal(heard.len, 0);
    }
    rig_run(t->rig);
    silent(t->a);
}

static void one_connection_serves_many_requests(void **state)
{
    struct web *t = *state;

    for (int i = 0; i < 500; i++) {
        waits(t->a, POST("/f", "", "x"));
        http_completes(t->w, "x", "r");
        body_is(answered(t->a, 200), "r");
    }
}

//
// 100-continue
//

static void an_expected_100_comes_once_the_head_is_accepted(void **state)
{
    struct web *t = *state;
    struct slice heard =
        peer_ask(t->a, SLICE("POST /f HTTP/1.1\r\n" HELD BACKGROUND "Content-Length: 1\r\n"
                             "Expect: 100-Continue\r\n\r\n"));

    assert_string_equal(heard.ptr, "HTTP/1.1 100 Continue\r\n\r\n");
    stays(t->a, asks(t->a, SLICE("x"), 200));
    heard = peer_ask(t->a, SLICE("POST /f HTTP/1.1\r\n" HELD BACKGROUND
                                 "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"));
    assert_string_equal(heard.ptr, "HTTP/1.1 100 Continue\r\n\r\n");
    stays(t->a, asks(t->a, SLICE("1\r\ny\r\n0\r\n\r\n"), 200));
}

static void a_head_that_is_refused_gets_no_100(void **state)
{
    struct web *t = *state;

    t->settings.max_body = 10;
    ends(t->a, asks(t->a,
                    SLICE("POST /f HTTP/1.1\r\n" HELD "Content-Length: 11\r\n"
                          "Expect: 100-continue\r\n\r\n"),
                    413));
    ends(t->b, asks(t->b,
                    SLICE("POST /f HTTP/1.1\r\n" HELD "Content-Length: 1\r\n"
                          "X-Gearman-Ttr: x\r\nExpect: 100-continue\r\n\r\n"),
                    400));
}

static void a_100_goes_neither_to_1_0_nor_to_who_sends_nothing(void **state)
{
    struct web *t = *state;

    waits(t->a, SLICE("POST /f HTTP/1.0\r\n" BACKGROUND "Content-Length: 1\r\n"
                      "Expect: 100-continue\r\n\r\n"));
    asks(t->a, SLICE("x"), 200);
    asks(t->b,
         SLICE("POST /f HTTP/1.1\r\n" HELD BACKGROUND "Content-Length: 0\r\n"
               "Expect: 100-continue\r\n\r\n"),
         200);
}

static void other_expectations_fail(void **state)
{
    struct web *t = *state;

    ends(t->a, asks(t->a, http_get("/f", "Expect: miracles\r\n"), 417));
    assert_int_equal(http_jobs(t), 0);
}

//
// HEAD and OPTIONS
//

// The answer to a HEAD: nothing follows it.
static struct http_answer heads(struct peer *peer, struct slice said, unsigned status)
{
    struct slice heard = peer_ask(peer, said);
    struct http_answer answer;

    assert_true(http_take(&heard, true, &answer));
    assert_int_equal(heard.len, 0);
    assert_int_equal(answer.status, status);
    return answer;
}

static void a_head_of_the_root_is_200_without_a_body(void **state)
{
    struct web *t = *state;
    struct http_answer answer = heads(t->a, http_bare("HEAD", "/", ""), 200);

    stays(t->a, &answer);
    heads(t->a, http_bare("HEAD", "//", ""), 200);
    answer = heads(t->a, http_bare("HEAD", "http://localhost", ""), 200);
    stays(t->a, &answer);
}

static void a_head_of_a_function_has_no_effect(void **state)
{
    struct web *t = *state;
    struct http_answer answer = heads(t->a, http_bare("HEAD", "/f", ""), 405);

    field_is(&answer, "Allow", "GET, POST, PUT, OPTIONS");
    stays(t->a, &answer);
    assert_int_equal(http_jobs(t), 0);
}

static void no_answer_to_a_head_has_a_body(void **state)
{
    struct web *t = *state;
    struct http_answer answer = heads(t->a, http_bare("HEAD", "/-/jobs/x", ""), 405);

    field_is(&answer, "Allow", "GET, DELETE, OPTIONS");
    heads(t->a, SLICE("HEAD /f HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
    stays(t->a, asks(t->a, http_get("/", ""), 404));
    heads(t->b, SLICE("HEAD / HTTP/1.1\r\n\r\n"), 400);
}

static void options_tell_what_is_allowed(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer = asks(t->a, http_bare("OPTIONS", "/f", ""), 204);

    field_is(answer, "Allow", "GET, POST, PUT, OPTIONS");
    field_is(answer, "Access-Control-Allow-Origin", NULL);
    field_is(answer, "Access-Control-Allow-Methods", NULL);
    field_is(answer, "Content-Length", NULL);
    stays(t->a, answer);
    field_is(asks(t->a, http_bare("OPTIONS", "*", ""), 204), "Allow",
             "GET, POST, PUT, DELETE, HEAD, OPTIONS");
    field_is(asks(t->a, http_bare("OPTIONS", "/-/jobs/x", ""), 204), "Allow",
             "GET, DELETE, OPTIONS");
    asks(t->a, http_bare("OPTIONS", "/%00", ""), 400);
    assert_int_equal(http_jobs(t), 0);
}

static void an_asterisk_is_for_options_alone(void **state)
{
    struct web *t = *state;

    asks(t->a, http_get("*", ""), 404);
    asks(t->a, POST("*", "", ""), 404);
    assert_int_equal(http_jobs(t), 0);
}

//
// Draining, and the end of the process
//

// HEAD / is answered so.
static struct http_answer health(struct web *t, const char *version, unsigned status)
{
    struct http_answer answer;
    char said[100];
    int len = snprintf(said, sizeof said, "HEAD / %s\r\n" HELD "\r\n", version);
    struct slice heard = peer_ask(t->a, slice_of(said, (size_t)len));

    assert_true(http_take(&heard, true, &answer));
    assert_int_equal(answer.status, status);
    assert_int_equal(heard.len, 0);
    return answer;
}

static void who_asks_how_a_broker_is_learns_that_it_drains(void **state)
{
    struct web *t = *state;
    struct http_answer answer;

    health(t, "HTTP/1.1", 200);
    broker_drain(rig_broker(t->rig));
    t->settings.status_codes = WEB_CODES_GEARMAND;
    answer = health(t, "HTTP/1.1", 503);
    field_is(&answer, "Retry-After", "1");
    stays(t->a, &answer);
    broker_end_drain(rig_broker(t->rig));
    health(t, "HTTP/1.1", 200);
}

// The reply was 503, because the process stops, and the end of the connection.
static void is_told_of_the_end(struct peer *peer)
{
    const struct http_answer *answer = answered(peer, 503);

    body_is(answer, "{\"error\": \"the broker is stopping\"}\n");
    field_is(answer, "Connection", "close");
    field_is(answer, "Retry-After", "1");
    assert_true(peer_closed(peer));
}

static void who_waits_when_the_process_stops_is_told(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", "", "x"));
    waits(t->b, POST("/f", "X-Gearman-Timeout: 1\r\n", "y"));
    http_can_do(t->w, "f");
    (void)grabs(t->w, "f", "x");
    rig_stop(t->rig);
    is_told_of_the_end(t->a);
    is_told_of_the_end(t->b);
    rig_advance(t->rig, SECONDS(100000));
}

static void who_waits_on_http_1_0_is_told_of_the_end_in_that_version(void **state)
{
    struct web *t = *state;

    t->settings.status_codes = WEB_CODES_GEARMAND;
    waits(t->a, SLICE("GET /f HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    rig_stop(t->rig);
    is_told_of_the_end(t->a);
}

static void half_a_request_is_told_of_the_end(void **state)
{
    static const char *const halves[] = {
        "G", "POST /f HTTP/1.1\r\n" HELD, "POST /f HTTP/1.1\r\n" HELD "Content-Length: 2\r\n\r\nx",
        "POST /f HTTP/1.1\r\n" HELD "Transfer-Encoding: chunked\r\n\r\n2\r\nx"};
    struct web *t = *state;
    struct peer *peers[4];

    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        peers[i] = peer_new(t->rig);
        waits(peers[i], slice_str(halves[i]));
    }
    rig_stop(t->rig);
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        is_told_of_the_end(peers[i]);
        peer_free(peers[i]);
    }
    assert_int_equal(http_jobs(t), 0);
}

static void who_has_asked_for_nothing_is_told_nothing_of_the_end(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND, "x"), 200);
    rig_stop(t->rig);
    silent(t->a);
    silent(t->b);
    assert_true(peer_closed(t->a) && peer_closed(t->b));
    assert_int_equal(http_jobs(t), 1);
}

static void a_stream_is_told_of_the_end(void **state)
{
    static const char end[] = "event: fail\ndata: {\"handle\":\"" GEAR_PREFIX
                              "1\",\"error\":\"the broker is stopping\"}\n\n";
    struct web *t = *state;
    struct http_answer answer;
    struct slice heard;

    peer_send(t->a, POST("/f", "Accept: text/event-stream\r\n", "x"));
    rig_run(t->rig);
    rig_stop(t->rig);
    heard = peer_hear(t->a);
    assert_true(http_take(&heard, false, &answer));
    assert_false(answer.open);
    assert_memory_equal(answer.body.ptr + answer.body.len - (sizeof end - 1), end, sizeof end - 1);
    assert_true(peer_closed(t->a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(http_1_1_stays_unless_it_is_asked_to_go),
        HTTP(close_is_heard_wherever_it_stands),
        HTTP(http_1_0_goes_unless_it_is_asked_to_stay),
        HTTP(each_is_answered_in_its_own_version),
        HTTP(bytes_after_the_last_request_are_not_read),
        HTTP(what_follows_a_foreground_request_that_ends_the_connection_is_not_read),
        HTTP(empty_lines_in_front_of_a_request_are_passed_over),
        HTTP(pipelined_requests_are_answered_in_their_order),
        HTTP(a_foreground_request_in_front_holds_the_others),
        HTTP(a_request_that_times_out_lets_the_next_one_go_on),
        cmocka_unit_test_setup_teardown(a_turn_begins_as_many_requests_as_it_may, setup_budget,
                                        http_teardown),
        HTTP(one_connection_serves_many_requests),
        HTTP(an_expected_100_comes_once_the_head_is_accepted),
        HTTP(a_head_that_is_refused_gets_no_100),
        HTTP(a_100_goes_neither_to_1_0_nor_to_who_sends_nothing),
        HTTP(other_expectations_fail),
        HTTP(a_head_of_the_root_is_200_without_a_body),
        HTTP(a_head_of_a_function_has_no_effect),
        HTTP(no_answer_to_a_head_has_a_body),
        HTTP(options_tell_what_is_allowed),
        HTTP(an_asterisk_is_for_options_alone),
        HTTP(who_asks_how_a_broker_is_learns_that_it_drains),
        HTTP(who_waits_when_the_process_stops_is_told),
        HTTP(who_waits_on_http_1_0_is_told_of_the_end_in_that_version),
        HTTP(half_a_request_is_told_of_the_end),
        HTTP(who_has_asked_for_nothing_is_told_nothing_of_the_end),
        HTTP(a_stream_is_told_of_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
