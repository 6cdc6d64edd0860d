/* SPDX-License-Identifier: MIT */

// Every allocation of a conversation fails once: nothing crashes, nothing leaks, the books stay
// right, and a client that is not served gets an error or a closed connection.

#include "tests/proto_common/wire_host.h"
#include "tests/proto_http/wire_http.h"
#include "tests/support/nth_alloc.h"

#include "tests/support/broker_check.h"

#include <string.h>

#define SAID_MAX 200000
#define HEARD_MAX 200000
#define BODY 60000

#define BACKGROUND "X-Gearman-Background: 1\r\n"
#define STREAM "Accept: text/event-stream\r\n"

struct outcome {
    char heard[HEARD_MAX];
    size_t len;
    bool owned_up; // who was not served knows it
};

static char origins[] = "http://app.example";

static bool contains(struct slice bytes, struct slice part)
{
    for (; bytes.len >= part.len; bytes = slice_from(bytes, 1)) {
        if (memcmp(bytes.ptr, part.ptr, part.len) == 0) {
            return true;
        }
    }
    return false;
}

// Does the jobs at `f`; true where the worker saw that something failed.
static bool work(struct peer *worker)
{
    struct slice heard;

    peer_send(worker, REQ(CAN_DO, "f"));
    for (uint64_t id = 1; id < 6; id++) {
        const char *handle = gear_handle(id);

        peer_send(worker, MANY(REQ(GRAB_JOB), REQ(WORK_STATUS, handle, "1", "2"),
                               REQ(WORK_DATA, handle, gear_run('d', 5000))));
        rig_run(peer_rig(worker));
        peer_send(worker, MANY(REQ(WORK_WARNING, handle, "\xff"), REQ(WORK_COMPLETE, handle, "r")));
        rig_run(peer_rig(worker));
    }
    heard = peer_hear(worker);
    return peer_failed(worker) || contains(heard, SLICE("Out of memory"));
}

// Plays what is said with the n-th allocation failing. False where there were fewer than n.
static bool play(struct slice said, size_t piece, size_t n, struct outcome *outcome)
{
    struct slice heard = NOTHING;
    struct peer *peer;
    struct web *t;
    void *state;
    bool failed, lost;

    http_setup(&state);
    t = state;
    t->settings.cors_origins = origins;
    nth_alloc_fail(n);
    peer = peer_new(t->rig);
    if (peer) {
        peer_send_pieces(peer, said, piece, piece);
    }
    lost = work(t->w);
    failed = nth_alloc_count() >= n && n > 0;
    nth_alloc_fail(0);
    if (peer) {
        heard = peer_hear(peer);
    }
    assert_true(heard.len < sizeof outcome->heard);
    memcpy(outcome->heard, heard.ptr, heard.len);
    outcome->len = heard.len;
    // The last part of a result is one byte: it alone is not an answer.
    assert_false(contains(heard, SLICE("Content-Length: 1\r\n")));
    outcome->owned_up =
        lost || !peer || peer_failed(peer) || peer_dropped(peer) || contains(heard, SLICE(" 503 "));
    asks(t->b, http_get("/", ""), 404);
    broker_check(rig_broker(t->rig));
    http_teardown(&state);
    return failed;
}

// Returns how many allocations there were.
static size_t fail_each(struct slice said, size_t piece)
{
    static struct outcome whole, lacking;
    size_t n = 1;

    play(said, piece, 0, &whole);
    assert_false(whole.owned_up);
    assert_true(whole.len > 0);
    for (; play(said, piece, n, &lacking); n++) {
        bool same = lacking.len == whole.len && memcmp(lacking.heard, whole.heard, whole.len) == 0;

        if (!same && !lacking.owned_up) {
            fail_msg("allocation %zu changed the answers in silence: %.*s", n, (int)lacking.len,
                     lacking.heard);
        }
    }
    return n - 1;
}

// Requests are made with the allocator, and are kept apart from what is counted.
static struct slice kept(struct slice said)
{
    static char store[SAID_MAX];

    assert_true(said.len <= sizeof store);
    memcpy(store, said.ptr, said.len);
    return slice_of(store, said.len);
}

static void each_allocation_of_requests_answered_at_once_may_fail(void **state)
{
    struct slice said =
        kept(MANY(http_get("/", "Origin: http://app.example\r\n"),
                  POST("/b", BACKGROUND "X-Gearman-Unique: u\r\n", "one"),
                  POST("/b", BACKGROUND "X-Gearman-Unique: -\r\nX-Gearman-Delay: 5\r\n", "two"),
                  http_chunked("/c", BACKGROUND, SLICE("three")), http_bare("OPTIONS", "/f", ""),
                  http_get("/-/jobs/" GEAR_PREFIX "1", ""),
                  http_bare("DELETE", "/-/jobs/" GEAR_PREFIX "1", ""),
                  POST("/d", BACKGROUND "X-Gearman-Ttr: 1\r\n", "four")));

    (void)state;
    for (size_t piece = 10; piece <= 1000; piece *= 10) {
        assert_true(fail_each(said, piece) > 8);
    }
}

static void each_allocation_of_requests_that_wait_may_fail(void **state)
{
    struct slice said =
        kept(MANY(POST("/f", "X-Gearman-Unique: u\r\n", "one"), http_get("/f?two", ""),
                  POST("/f", "X-Gearman-Timeout: 9\r\n", "three")));

    (void)state;
    assert_true(fail_each(said, 1000) > 5);
}

static void each_allocation_of_a_stream_may_fail(void **state)
{
    struct slice said =
        kept(MANY(POST("/f", STREAM, "one"), http_get("/f?two", STREAM "Connection: close\r\n")));

    (void)state;
    assert_true(fail_each(said, 1000) > 5);
}

static void each_allocation_of_a_large_body_may_fail(void **state)
{
    struct slice body = slice_of(gear_run('b', BODY), BODY);
    struct slice said = kept(MANY(http_post("/b", BACKGROUND, body), http_get("/", ""),
                                  http_chunked("/c", BACKGROUND, body), http_get("/", "")));

    (void)state;
    for (size_t piece = 5000; piece < 200000; piece *= 6) {
        assert_true(fail_each(said, piece) > 5);
    }
}

static void a_wait_that_is_over_needs_no_memory_but_for_its_bytes(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", "X-Gearman-Timeout: 1\r\n", "x"));
    nth_alloc_fail(1);
    rig_advance(t->rig, SECONDS(1));
    nth_alloc_fail(0);
    assert_true(peer_failed(t->a) || peer_hear(t->a).len > 0);
    assert_int_equal(http_jobs(t), 0);
}

static void a_503_for_lack_of_memory_says_when_to_come_again(void **state)
{
    struct web *t = *state;
    struct slice said = POST("/f", BACKGROUND, "x");
    bool made;
    size_t n = 1;

    do {
        struct peer *peer = peer_new(t->rig);
        struct http_answer answer;
        struct slice heard;

        nth_alloc_fail(n++);
        heard = peer_ask(peer, said);
        made = nth_alloc_count() >= n - 1;
        nth_alloc_fail(0);
        if (made && !peer_failed(peer)) {
            assert_true(http_take(&heard, false, &answer));
            assert_int_equal(answer.status, 503);
            field_is(&answer, "Retry-After", "1");
            field_is(&answer, "X-Gearman-Command", "ERROR");
        }
        peer_free(peer);
    } while (made);
    assert_true(n > 4);
}

static void losing_clients_needs_no_memory(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", "X-Gearman-Unique: u\r\n", "x"));
    peer_send(t->b, POST("/f", STREAM "X-Gearman-Unique: u\r\n", "x"));
    rig_run(t->rig);
    nth_alloc_fail(1);
    peer_free(t->a);
    peer_free(t->b);
    assert_int_equal(nth_alloc_count(), 0);
    nth_alloc_fail(0);
    assert_int_equal(http_jobs(t), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_requests_answered_at_once_may_fail),
        cmocka_unit_test(each_allocation_of_requests_that_wait_may_fail),
        cmocka_unit_test(each_allocation_of_a_stream_may_fail),
        cmocka_unit_test(each_allocation_of_a_large_body_may_fail),
        HTTP(a_wait_that_is_over_needs_no_memory_but_for_its_bytes),
        HTTP(a_503_for_lack_of_memory_says_when_to_come_again),
        HTTP(losing_clients_needs_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
