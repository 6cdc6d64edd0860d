/* SPDX-License-Identifier: MIT */
// Events of a stream that are too long to be written at once, and what comes behind them.
#include "core/base/memory.h"
#include "tests/proto_http/wire_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM "Accept: text/event-stream\r\n"
#define LONG ((size_t)200 * 1024)
#define ABOUT(number, name)                                                                        \
    "id: " #number "\nevent: " name "\ndata: {\"handle\":\"" GEAR_PREFIX "1\""
#define CREATED ABOUT(1, "created") "}\n\n"
#define LONG_PART ABOUT(2, "data") ",\"data\":\""

// The text behind it, in one of these tests.
static const char BEHIND[] = "\"}\n\n" ABOUT(3, "warning") ",\"data\":\"short\"}\n\n" ABOUT(
    4,
    "status") ",\"numerator\":1,\"denominator\":2}\n\n" ABOUT(5,
                                                              "complete") ",\"data\":\"end\"}\n\n";

// `a` has submitted, and `w` has the job: its handle.
static const char *begin(struct web *t, const char *headers)
{
    peer_send(t->a, http_post("/f", headers, SLICE("x")));
    rig_run(t->rig);
    http_can_do(t->w, "f");
    return grabs(t->w, "f", "x");
}

// The stream consists of these: `before`, many times that byte, `after`.
static void streamed(struct web *t, const char *before, char byte, size_t count, const char *after)
{
    struct slice heard = peer_hear(t->a);
    struct http_answer answer;
    struct slice body;

    assert_true(http_take(&heard, false, &answer));
    body = answer.body;
    assert_int_equal(body.len, strlen(before) + count + strlen(after));
    assert_memory_equal(body.ptr, before, strlen(before));
    body = slice_from(body, strlen(before));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(body.ptr[i], byte);
    }
    assert_memory_equal(body.ptr + count, after, strlen(after));
}

static void what_happens_behind_a_long_event_is_told_behind_it(void **state)
{
    struct web *t = *state;
    const char *job = begin(t, STREAM);

    peer_send(t->w, REQ(WORK_DATA, job, gear_run('d', LONG)));
    peer_send(t->w, REQ(WORK_WARNING, job, "short"));
    peer_send(t->w, REQ(WORK_STATUS, job, "1", "2"));
    gear_says(t->w, REQ(WORK_COMPLETE, job, "end"), NOTHING);
    streamed(t, CREATED LONG_PART, 'd', LONG, BEHIND);
    // The connection goes on with the next request.
    stays(t->a, asks(t->a, http_get("/", ""), 404));
}

static void long_bytes_that_are_not_utf_8_are_in_base64(void **state)
{
    struct web *t = *state;
    const char *job = begin(t, STREAM);

    gear_says(t->w, REQ(WORK_COMPLETE, job, gear_run('\xff', 6000)), NOTHING);
    streamed(t, CREATED ABOUT(2, "complete") ",\"data\":\"", '/', 8000,
             "\",\"encoding\":\"base64\"}\n\n");
}

// More than is staged for a client that does not read: its events wait, as references.
static void say_much(struct web *t, const char *job, unsigned times)
{
    peer_stop_reading(t->a);
    for (unsigned i = 0; i < times; i++) {
        gear_says(t->w, REQ(WORK_DATA, job, gear_run('d', LONG)), NOTHING);
    }
    assert_in_range(peer_unread(t->a), LONG, times * LONG / 2);
    assert_in_range(peer_unread(t->a) + peer_holds(t->a), times * LONG, 2 * times * LONG);
}

// It is a chunk of its own, before the last one, which is empty.
static void expect_end(struct web *t, const char *last)
{
    static const char end[] = "\r\n0\r\n\r\n";
    struct slice heard = peer_hear(t->a);
    size_t len = strlen(last);

    assert_true(heard.len > 20 * LONG + len + strlen(end));
    assert_memory_equal(heard.ptr + heard.len - strlen(end), end, strlen(end));
    assert_memory_equal(heard.ptr + heard.len - strlen(end) - len, last, len);
}

static void a_wait_that_is_over_is_told_behind_what_waits(void **state)
{
    struct web *t = *state;

    say_much(t, begin(t, STREAM "X-Gearman-Timeout: 5\r\n"), 20);
    rig_advance(t->rig, SECONDS(5));
    peer_read_again(t->a);
    rig_run(t->rig);
    expect_end(t, ABOUT(22, "timeout") "}\n\n");
    assert_false(peer_closed(t->a));
}

static void a_client_hears_all_before_the_process_stops(void **state)
{
    struct web *t = *state;

    say_much(t, begin(t, STREAM), 20);
    rig_stop(t->rig);
    peer_read_again(t->a);
    rig_run(t->rig);
    expect_end(t, "\n\n");
    assert_true(peer_closed(t->a));
}

static void an_end_that_waits_is_told_once_when_the_process_stops(void **state)
{
    struct web *t = *state;
    const char *job = begin(t, STREAM);

    say_much(t, job, 20);
    gear_says(t->w, REQ(WORK_COMPLETE, job, "end"), NOTHING);
    rig_stop(t->rig);
    peer_read_again(t->a);
    rig_run(t->rig);
    expect_end(t, ABOUT(22, "complete") ",\"data\":\"end\"}\n\n");
}

static void events_that_wait_are_counted_as_memory(void **state)
{
    struct web *t = *state;
    const char *job = begin(t, STREAM);
    size_t before;

    say_much(t, job, 20);
    before = memory_counted();
    for (unsigned i = 0; i < 1000; i++) {
        gear_says(t->w, REQ(WORK_STATUS, job, "1", "2"), NOTHING);
    }
    assert_true(memory_counted() - before >= (size_t)1000 * 100);
    peer_read_again(t->a);
    rig_run(t->rig);
    assert_true(memory_counted() < before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(what_happens_behind_a_long_event_is_told_behind_it),
        HTTP(long_bytes_that_are_not_utf_8_are_in_base64),
        HTTP(a_wait_that_is_over_is_told_behind_what_waits),
        HTTP(a_client_hears_all_before_the_process_stops),
        HTTP(an_end_that_waits_is_told_once_when_the_process_stops),
        HTTP(events_that_wait_are_counted_as_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
