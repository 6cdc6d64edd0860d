/* SPDX-License-Identifier: MIT */

// Answers as server-sent events.

#include "tests/proto_http/wire_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM "Accept: text/event-stream\r\n"
#define UNIQUE "X-Gearman-Unique: u\r\n"

#define ABOUT(number, name)                                                                        \
    "id: " #number "\nevent: " name "\ndata: {\"handle\":\"" GEAR_PREFIX "1\""
#define CREATED ABOUT(1, "created") "}\n\n"

// The text of a stream so far.
static void streams(struct slice heard, bool open, const char *events, const char *file, int line)
{
    struct http_answer answer;

    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(heard.len, 0);
    assert_int_equal(answer.status, 200);
    field_is(&answer, "Content-Type", "text/event-stream");
    field_is(&answer, "Cache-Control", "no-store");
    field_is(&answer, "X-Gearman-Job-Handle", H(1));
    field_is(&answer, "Content-Length", NULL);
    http_body_is(&answer, slice_str(events), file, line);
    assert_int_equal(answer.open, open);
}

#define streams_on(peer, events) streams(peer_hear(peer), true, (events), __FILE__, __LINE__)
#define streamed(peer, events) streams(peer_hear(peer), false, (events), __FILE__, __LINE__)

// `a` has submitted, and `w` has the job: its handle. Nothing was heard so far.
static const char *begin(struct web *t)
{
    peer_send(t->a, POST("/f", STREAM UNIQUE, "x"));
    rig_run(t->rig);
    http_can_do(t->w, "f");
    return grabs(t->w, "f", "x");
}

static void a_stream_begins_when_the_job_is_accepted(void **state)
{
    struct web *t = *state;

    peer_send(t->a, POST("/f", STREAM, "x"));
    rig_run(t->rig);
    streams_on(t->a, CREATED);
    assert_false(http_job(t, 1).durable);
}

#define COMMENT "3\r\n:\n\n\r\n"

static void hears_only(struct peer *peer, const char *text)
{
    struct slice heard = peer_hear(peer);

    assert_true(slice_equal(heard, slice_str(text)));
}

static void a_stream_that_waits_has_a_comment_every_fifteen_seconds(void **state)
{
    struct web *t = *state;

    peer_send(t->a, POST("/f", STREAM "X-Gearman-Timeout: 50\r\n", "x"));
    rig_run(t->rig);
    streams_on(t->a, CREATED);
    for (int i = 0; i < 3; i++) {
        rig_advance(t->rig, SECONDS(14));
        hears_only(t->a, "");
        rig_advance(t->rig, SECONDS(1));
        hears_only(t->a, COMMENT);
    }
    rig_advance(t->rig, SECONDS(4));
    hears_only(t->a, "");
    rig_advance(t->rig, SECONDS(1));
    assert_non_null(strstr(peer_hear(t->a).ptr, "event: timeout\n"));
    stays(t->a, asks(t->a, http_get("/", ""), 404));
}

static void what_keeps_buffers_in_front_is_told_to_pass_a_stream_on(void **state)
{
    struct web *t = *state;
    struct http_answer answer;
    struct slice heard;

    peer_send(t->a, POST("/f", STREAM, "x"));
    rig_run(t->rig);
    heard = peer_hear(t->a);
    assert_true(http_take(&heard, false, &answer));
    field_is(&answer, "X-Accel-Buffering", "no");
}

static void each_event_is_told_when_it_happens(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);
    const char *chunk = "55\r\nid: 2\nevent: status\ndata: {\"handle\":\"" GEAR_PREFIX "1\","
                        "\"numerator\":3,\"denominator\":10}\n\n\r\n";
    char expected[200];

    streams_on(t->a, CREATED);
    gear_says(t->w, REQ(WORK_STATUS, job, "3", "10"), NOTHING);
    (void)snprintf(expected, sizeof expected, "%s", chunk);
    assert_int_equal(strtoul(expected, NULL, 16) + 6, strlen(expected));
    assert_string_equal(peer_hear(t->a).ptr, expected);
}

static void a_stream_tells_all_of_a_job_to_its_end(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    gear_says(t->w,
              MANY(REQ(WORK_STATUS, job, "1", "2"), REQ(WORK_DATA, job, "part"),
                   REQ(WORK_WARNING, job, "hot"), REQ(WORK_COMPLETE, job, "end")),
              NOTHING);
    streamed(
        t->a,
        CREATED ABOUT(2, "status") ",\"numerator\":1,\"denominator\":2}\n\n" ABOUT(
            3, "data") ",\"data\":\"part\"}\n\n" ABOUT(4,
                                                       "warning") ",\"data\":\"hot\"}"
                                                                  "\n\n" ABOUT(
                                                                      5,
                                                                      "complete") ",\"data\":"
                                                                                  "\"end\"}\n\n");
    stays(t->a, asks(t->a, http_get("/", ""), 404));
}

static void a_job_that_fails_ends_its_stream(void **state)
{
    struct web *t = *state;

    gear_says(t->w, REQ(WORK_FAIL, begin(t)), NOTHING);
    streamed(t->a, CREATED ABOUT(2, "fail") ",\"error\":\"the job has failed\"}\n\n");
}

static void an_exception_ends_its_stream(void **state)
{
    struct web *t = *state;

    gear_says(t->w, REQ(WORK_EXCEPTION, begin(t), "bang"), NOTHING);
    streamed(t->a, CREATED ABOUT(2, "exception") ",\"data\":\"bang\"}\n\n");
}

static void a_job_taken_back_fails_to_its_stream(void **state)
{
    struct web *t = *state;

    peer_send(t->a, POST("/f", STREAM, "x"));
    rig_run(t->rig);
    asks(t->b, http_bare("DELETE", "/-/jobs/" GEAR_PREFIX "1", ""), 204);
    streamed(t->a, CREATED ABOUT(2, "fail") ",\"error\":\"the job was cancelled\"}\n\n");
}

static void an_empty_result_is_an_empty_string(void **state)
{
    struct web *t = *state;

    gear_says(t->w, REQ(WORK_COMPLETE, begin(t), ""), NOTHING);
    streamed(t->a, CREATED ABOUT(2, "complete") ",\"data\":\"\"}\n\n");
}

static void a_retried_job_restarts_its_stream(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    gear_says(t->w, REQ(WORK_DATA, job, "lost"), NOTHING);
    peer_free(t->w);
    http_completes(t->v, "x", "end");
    streamed(t->a, CREATED ABOUT(2, "data") ",\"data\":\"lost\"}\n\n" ABOUT(
                       3, "restart") "}\n\n" ABOUT(4, "complete") ",\"data\":\"end\"}\n\n");
}

static void text_is_escaped_as_json(void **state)
{
    struct web *t = *state;

    gear_says(t->w, REQ(WORK_COMPLETE, begin(t), "a\"b\\c\n\r\n\n\t\xc3\xa9\x1f</"), NOTHING);
    streamed(t->a, CREATED ABOUT(2, "complete") ",\"data\":\"a\\\"b\\\\c\\n\\r\\n\\n\\t"
                                                "\xc3\xa9\\u001F</\"}\n\n");
}

// The data that stands for these bytes of a result.
static void shows(struct web *t, struct slice result, const char *data)
{
    const char *job = begin(t);
    char packet[200], expected[400];
    int len = snprintf(packet, sizeof packet, "%s", job) + 1;

    memcpy(packet + len, result.ptr, result.len);
    gear_says(t->w,
              gear_raw("REQ", 13, (uint32_t)((size_t)len + result.len),
                       slice_of(packet, (size_t)len + result.len)),
              NOTHING);
    (void)snprintf(expected, sizeof expected, CREATED ABOUT(2, "complete") ",\"data\":%s}\n\n",
                   data);
    streamed(t->a, expected);
}

static void bytes_that_are_not_utf_8_are_in_base64(void **state)
{
    shows(*state, SLICE("\xff\xfe"), "\"//4=\",\"encoding\":\"base64\"");
}

static void half_a_character_is_in_base64(void **state)
{
    shows(*state, SLICE("ab\xc3"), "\"YWLD\",\"encoding\":\"base64\"");
}

static void an_overlong_character_is_in_base64(void **state)
{
    shows(*state, SLICE("\xc0\x80"), "\"wIA=\",\"encoding\":\"base64\"");
}

static void a_nul_is_text(void **state)
{
    shows(*state, SLICE("a\0b"), "\"a\\u0000b\"");
}

static void a_client_of_1_0_gets_events_without_chunks(void **state)
{
    struct web *t = *state;
    struct slice heard =
        peer_ask(t->a, SLICE("POST /f HTTP/1.0\r\n" STREAM "Connection: keep-alive\r\n"
                             "Content-Length: 1\r\n\r\nx"));
    struct http_answer answer;

    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.minor, 0);
    field_is(&answer, "Transfer-Encoding", NULL);
    field_is(&answer, "Connection", "close");
    body_is(&answer, CREATED);
    http_completes(t->w, "x", "end");
    assert_string_equal(peer_hear(t->a).ptr, ABOUT(2, "complete") ",\"data\":\"end\"}\n\n");
    assert_true(peer_closed(t->a));
}

static void a_stream_that_is_not_kept_is_closed_at_its_end(void **state)
{
    struct web *t = *state;

    peer_send(t->a, POST("/f", STREAM "Connection: close\r\n", "x"));
    rig_run(t->rig);
    http_completes(t->w, "x", "end");
    streamed(t->a, CREATED ABOUT(2, "complete") ",\"data\":\"end\"}\n\n");
    assert_true(peer_closed(t->a));
}

static void a_stream_that_waits_too_long_says_so(void **state)
{
    struct web *t = *state;

    peer_send(t->a, POST("/f", STREAM "X-Gearman-Timeout: 5\r\n", "x"));
    rig_advance(t->rig, SECONDS(5));
    streamed(t->a, CREATED ABOUT(2, "timeout") "}\n\n");
    assert_int_equal(http_jobs(t), 0);
    stays(t->a, asks(t->a, http_get("/", ""), 404));
}

static void a_browser_that_reconnects_submits_nothing(void **state)
{
    struct web *t = *state;

    stays(t->a, asks(t->a, http_get("/f?x", STREAM "Last-Event-ID: 3\r\n"), 204));
    asks(t->a, http_get("/f?x", "Last-Event-ID:\r\n"), 204);
    assert_int_equal(http_jobs(t), 0);
}

static void a_browser_may_ask_by_get(void **state)
{
    struct web *t = *state;

    peer_send(t->a, http_get("/f?x", "Accept: TEXT/Event-Stream;q=1, */*\r\n"));
    rig_run(t->rig);
    streams_on(t->a, CREATED);
    http_completes(t->w, "x", "end");
}

static void other_types_get_a_plain_answer(void **state)
{
    static const char *const types[] = {"text/event, application/json, */*", "text/event-streams",
                                        "x-text/event-stream", "text/event-stream/x", ""};
    struct web *t = *state;
    char headers[100];

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        (void)snprintf(headers, sizeof headers, "Accept: %s\r\n", types[i]);
        waits(t->a, POST("/f", headers, "x"));
        http_completes(t->w, "x", "end");
        body_is(answered(t->a, 200), "end");
    }
}

static void a_stream_may_be_asked_for_in_one_of_several_lines(void **state)
{
    struct web *t = *state;

    peer_send(t->a, POST("/f", STREAM "Accept: */*\r\n", "x"));
    rig_run(t->rig);
    streams_on(t->a, CREATED);
}

static void a_background_job_has_no_stream(void **state)
{
    struct web *t = *state;

    field_is(asks(t->a, POST("/f", STREAM "X-Gearman-Background: 1\r\n", "x"), 200),
             "Content-Length", "0");
}

static void what_is_refused_is_refused_without_a_stream(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", STREAM "X-Gearman-Ttr: x\r\n", "x"), 400);
    broker_drain(rig_broker(t->rig));
    field_is(asks(t->b, POST("/f", STREAM, "x"), 503), "Content-Type", "application/json");
}

static void who_joins_behind_data_is_not_told_that_the_rest_is_all(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    gear_says(t->w, REQ(WORK_DATA, job, "one"), NOTHING);
    peer_send(t->b, POST("/f", STREAM UNIQUE, "x"));
    rig_run(t->rig);
    gear_says(t->w, MANY(REQ(WORK_DATA, job, "two"), REQ(WORK_COMPLETE, job, "end")), NOTHING);
    streamed(t->b, CREATED ABOUT(2, "data") ",\"data\":\"two\"}\n\n" ABOUT(
                       3, "fail") ",\"error\":\"incomplete\"}\n\n");
}

static void who_joins_late_is_told_all_of_another_attempt(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    gear_says(t->w, REQ(WORK_DATA, job, "one"), NOTHING);
    peer_send(t->b, POST("/f", STREAM UNIQUE, "x"));
    rig_run(t->rig);
    peer_free(t->w);
    http_completes(t->v, "x", "end");
    streamed(t->b,
             CREATED ABOUT(2, "restart") "}\n\n" ABOUT(3, "complete") ",\"data\":\"end\"}\n\n");
}

// The worker `w` has the job, said `one` and let its time run out: its handle.
static const char *begin_late(struct web *t)
{
    const char *job;

    peer_send(t->a, POST("/f", STREAM UNIQUE "X-Gearman-Ttr: 5\r\n", "x"));
    rig_run(t->rig);
    http_can_do(t->w, "f");
    job = grabs(t->w, "f", "x");
    gear_says(t->w, REQ(WORK_DATA, job, "one"), NOTHING);
    rig_advance(t->rig, SECONDS(5));
    peer_send(t->b, POST("/f", STREAM UNIQUE, "x"));
    rig_run(t->rig);
    return job;
}

static void a_late_worker_completes_a_stream_with_all_that_it_said(void **state)
{
    struct web *t = *state;
    const char *job = begin_late(t);

    gear_says(t->w, REQ(WORK_COMPLETE, job, "end"), NOTHING);
    streamed(t->a, CREATED ABOUT(2, "data") ",\"data\":\"one\"}\n\n" ABOUT(
                       3, "complete") ",\"data\":\"end\"}\n\n");
    streamed(t->b, CREATED ABOUT(2, "fail") ",\"error\":\"incomplete\"}\n\n");
}

static void a_stream_restarts_when_another_takes_the_job_of_a_late_worker(void **state)
{
    struct web *t = *state;

    (void)begin_late(t);
    http_completes(t->v, "x", "end");
    streamed(t->a, CREATED ABOUT(2, "data") ",\"data\":\"one\"}\n\n" ABOUT(
                       3, "restart") "}\n\n" ABOUT(4, "complete") ",\"data\":\"end\"}\n\n");
    streamed(t->b,
             CREATED ABOUT(2, "restart") "}\n\n" ABOUT(3, "complete") ",\"data\":\"end\"}\n\n");
}

static void what_follows_a_stream_waits_for_its_end(void **state)
{
    struct web *t = *state;
    struct http_answer answer;
    struct slice heard;

    peer_send(t->a, MANY(POST("/f", STREAM, "x"), http_get("/", "")));
    rig_run(t->rig);
    assert_true(peer_blocked(t->a));
    http_completes(t->w, "x", "end");
    heard = peer_hear(t->a);
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 200);
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 404);
    assert_int_equal(heard.len, 0);
}

static void a_client_that_leaves_its_stream_takes_the_job_with_it(void **state)
{
    struct web *t = *state;

    peer_send(t->a, POST("/f", STREAM, "x"));
    rig_run(t->rig);
    peer_half_close(t->a);
    assert_int_equal(http_jobs(t), 0);
}

// The bytes of data that one event may have.
#define EVENT_MAX ((size_t)256 * 1024)

static void the_largest_event_is_told(void **state)
{
    struct web *t = *state;
    struct http_answer answer;
    struct slice heard;

    gear_says(t->w, REQ(WORK_COMPLETE, begin(t), gear_run('r', EVENT_MAX)), NOTHING);
    heard = peer_hear(t->a);
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.body.len,
                     strlen(CREATED ABOUT(2, "complete") ",\"data\":\"\"}\n\n") + EVENT_MAX);
}

static size_t unread_of(struct peer *const *peers, size_t count)
{
    size_t unread = 0;

    for (size_t i = 0; i < count; i++) {
        unread += peer_unread(peers[i]);
    }
    return unread;
}

static void large_events_are_written_in_slices_of_their_clients_turns(void **state)
{
    struct web *t = *state;
    struct peer *peers[8] = {t->a, t->b};
    size_t before;
    size_t unread;

    for (size_t i = 0; i < 8; i++) {
        peers[i] = peers[i] ? peers[i] : peer_new(t->rig);
        peer_stop_reading(peers[i]);
        peer_send(peers[i], POST("/f", STREAM UNIQUE, "x"));
    }
    rig_run(t->rig);
    http_can_do(t->w, "f");
    peer_send(t->w, REQ(WORK_DATA, grabs(t->w, "f", "x"), gear_run('"', EVENT_MAX)));
    rig_feed(t->rig);
    before = unread_of(peers, 8);
    while (broker_settle(rig_broker(t->rig))) {
    }
    assert_int_equal(unread_of(peers, 8), before);
    do {
        before = unread_of(peers, 8);
        rig_feed(t->rig);
        unread = unread_of(peers, 8);
        assert_in_range(unread - before, 0, 8 * (FEED_STAGED_MAX + EVENT_MAX / 8));
    } while (unread > before);
    assert_true(unread > 8 * 2 * EVENT_MAX);
}

static void small_events_are_told_all_at_once(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    streams_on(t->a, CREATED);
    for (int i = 0; i < BROKER_SLICE / 2; i++) {
        peer_send(t->w, REQ(WORK_DATA, job, "small"));
    }
    rig_feed(t->rig);
    assert_false(broker_settle(rig_broker(t->rig)));
}

static void a_larger_part_is_forgotten_by_a_retry(void **state)
{
    struct web *t = *state;

    gear_says(t->w, REQ(WORK_DATA, begin(t), gear_run('d', EVENT_MAX + 1)), NOTHING);
    peer_free(t->w);
    http_completes(t->v, "x", "r");
    streamed(t->a, CREATED ABOUT(2, "restart") "}\n\n" ABOUT(3, "complete") ",\"data\":\"r\"}\n\n");
}

static void a_larger_exception_fails_its_stream(void **state)
{
    struct web *t = *state;

    gear_says(t->w, REQ(WORK_EXCEPTION, begin(t), gear_run('r', EVENT_MAX + 1)), NOTHING);
    streamed(t->a, CREATED ABOUT(
                       2, "fail") ",\"error\":\"the exception is too large for a stream\"}\n\n");
}

static void a_client_that_does_not_read_its_stream_is_dropped(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    t->settings.max_result = 2000;
    (void)peer_hear(t->a);
    peer_stop_reading(t->a);
    for (int i = 0; i < 40 && !peer_closed(t->a); i++) {
        gear_says(t->w, REQ(WORK_DATA, job, gear_run('d', 100)), NOTHING);
    }
    assert_true(peer_dropped(t->a));
    gear_says(t->w, REQ(WORK_COMPLETE, job, ""), NOTHING);
}

// The process may be told to stop before the connection is closed.
static void a_stream_that_is_dropped_as_its_job_ends_forgets_the_job(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    t->settings.max_result = 2000;
    (void)peer_hear(t->a);
    peer_stop_reading(t->a);
    gear_says(t->w, REQ(WORK_DATA, job, gear_run('d', 100)), NOTHING);
    gear_says(t->w, REQ(WORK_DATA, job, gear_run('d', 3000)), NOTHING);
    assert_false(peer_dropped(t->a));
    peer_send(t->w, REQ(WORK_COMPLETE, job, ""));
    rig_feed(t->rig);
    while (broker_settle(rig_broker(t->rig))) {
    }
    assert_true(peer_dropped(t->a));
    assert_false(peer_closed(t->a));
    rig_stop(t->rig);
}

static void a_client_that_reads_may_get_more_than_a_plain_answer(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    t->settings.max_result = 2000;
    for (int i = 0; i < 40; i++) {
        gear_says(t->w, REQ(WORK_DATA, job, gear_run('d', 100)), NOTHING);
    }
    gear_says(t->w, REQ(WORK_COMPLETE, job, ""), NOTHING);
    assert_false(peer_dropped(t->a));
    stays(t->a, asks(t->b, http_get("/", ""), 404));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(a_stream_begins_when_the_job_is_accepted),
        HTTP(a_stream_that_waits_has_a_comment_every_fifteen_seconds),
        HTTP(what_keeps_buffers_in_front_is_told_to_pass_a_stream_on),
        HTTP(each_event_is_told_when_it_happens),
        HTTP(a_stream_tells_all_of_a_job_to_its_end),
        HTTP(a_job_that_fails_ends_its_stream),
        HTTP(an_exception_ends_its_stream),
        HTTP(a_job_taken_back_fails_to_its_stream),
        HTTP(an_empty_result_is_an_empty_string),
        HTTP(a_retried_job_restarts_its_stream),
        HTTP(text_is_escaped_as_json),
        HTTP(bytes_that_are_not_utf_8_are_in_base64),
        HTTP(half_a_character_is_in_base64),
        HTTP(an_overlong_character_is_in_base64),
        HTTP(a_nul_is_text),
        HTTP(a_client_of_1_0_gets_events_without_chunks),
        HTTP(a_stream_that_is_not_kept_is_closed_at_its_end),
        HTTP(a_stream_that_waits_too_long_says_so),
        HTTP(a_browser_that_reconnects_submits_nothing),
        HTTP(a_browser_may_ask_by_get),
        HTTP(other_types_get_a_plain_answer),
        HTTP(a_stream_may_be_asked_for_in_one_of_several_lines),
        HTTP(a_background_job_has_no_stream),
        HTTP(what_is_refused_is_refused_without_a_stream),
        HTTP(who_joins_behind_data_is_not_told_that_the_rest_is_all),
        HTTP(who_joins_late_is_told_all_of_another_attempt),
        HTTP(a_late_worker_completes_a_stream_with_all_that_it_said),
        HTTP(a_stream_restarts_when_another_takes_the_job_of_a_late_worker),
        HTTP(what_follows_a_stream_waits_for_its_end),
        HTTP(a_client_that_leaves_its_stream_takes_the_job_with_it),
        HTTP(the_largest_event_is_told),
        HTTP(large_events_are_written_in_slices_of_their_clients_turns),
        HTTP(small_events_are_told_all_at_once),
        HTTP(a_larger_part_is_forgotten_by_a_retry),
        HTTP(a_larger_exception_fails_its_stream),
        HTTP(a_client_that_does_not_read_its_stream_is_dropped),
        HTTP(a_stream_that_is_dropped_as_its_job_ends_forgets_the_job),
        HTTP(a_client_that_reads_may_get_more_than_a_plain_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
