/* SPDX-License-Identifier: MIT */

// Each allocation of a session fails once: nothing crashes or leaks, the invariants hold, and a
// client that is not served gets an error or sees the connection close.

#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_beanstalk/wire_scripts.h"
#include "tests/proto_common/wire_callers.h"
#include "tests/proto_common/wire_host.h"
#include "tests/support/nth_alloc.h"

#include "tests/support/broker_check.h"

#include <stdio.h>
#include <string.h>

static char expected[8192];

// Plays the script while the n-th allocation fails. False: there were fewer than n.
static bool play(struct slice said, size_t piece, size_t n, bool *same, bool *owned_up)
{
    void *state;
    struct bean *t;
    struct peer *peer;
    bool failed;

    bean_setup(&state);
    t = state;
    nth_alloc_fail(n);
    peer = peer_new(t->rig);
    if (peer) {
        peer_send_pieces(peer, said, piece, piece);
    }
    failed = nth_alloc_count() >= n && n > 0;
    nth_alloc_fail(0);
    if (n == 0) {
        (void)snprintf(expected, sizeof expected, "%s", peer_hear(peer).ptr);
    } else {
        const char *heard = peer ? peer_hear(peer).ptr : "";

        *same = strcmp(heard, expected) == 0;
        *owned_up = !peer || peer_failed(peer) || strstr(heard, "OUT_OF_MEMORY\r\n");
    }
    says(t->c, "list-tube-used\r\n", "USING default\r\n");
    broker_check(rig_broker(t->rig));
    bean_teardown(&state);
    return failed;
}

static void fail_each(struct slice said, size_t piece)
{
    bool same = true;
    bool owned_up = true;
    size_t n = 1;

    play(said, piece, 0, &same, &owned_up);
    for (; play(said, piece, n, &same, &owned_up); n++) {
        if (!same && !owned_up) {
            fail_msg("allocation %zu changed the answers in silence", n);
        }
    }
    assert_true(n > 1);
}

static void each_allocation_of_a_conversation_may_fail(void **state)
{
    (void)state;
    fail_each(SLICE("use mail\r\nwatch mail\r\nput 5 0 9 3\r\nabc\r\nput 1 0 9 0\r\n\r\n"
                    "put 0 9 9 1\r\nd\r\nreserve\r\nreserve\r\ntouch 1\r\nrelease 1 7 5\r\n"
                    "reserve-job 1\r\nbury 1 8\r\npeek 1\r\npeek-buried\r\nkick 1\r\nkick-job 3\r\n"
                    "delete 2\r\npause-tube mail 3\r\nreserve-with-timeout 0\r\nlist-tubes\r\n"
                    "list-tubes-watched\r\nstats-tube mail\r\nstats\r\npause-tube mail 0\r\n"
                    "put-unique 0 0 9 1 k\r\nx\r\nreserve-batch 9 0\r\nprogress 4 1 2\r\n"
                    "complete 4 4\r\ndone\r\nclear-tube mail\r\nignore default\r\nauth x\r\n"
                    "quit\r\n"),
              1000);
}

static void each_allocation_of_a_body_in_pieces_may_fail(void **state)
{
    static char said[200000];
    size_t len = 0;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        // The width pads the body with spaces.
        len +=
            (size_t)snprintf(said + len, sizeof said - len, "put 0 0 9 60000\r\n%60000s\r\n", "");
    }
    for (size_t piece = 1000; piece <= 64000; piece *= 4) {
        fail_each(slice_of(said, len), piece);
    }
}

static void each_allocation_of_each_script_may_fail(void **state)
{
    (void)state;
    for (size_t s = 0; s < bean_script_count; s++) {
        for (size_t piece = 7; piece < 10000; piece *= 10) {
            bool same;
            bool owned_up;
            size_t n = 1;

            while (play(bean_scripts[s].said, piece, n, &same, &owned_up)) {
                n++;
            }
        }
    }
}

// Asks for a list that is too long to be gathered while the n-th allocation fails. False: there
// were fewer than n.
static bool list_without_memory(size_t n)
{
    struct queue *queues[400];
    void *state;
    struct bean *t;
    struct slice heard;
    bool failed;

    bean_setup(&state);
    t = state;
    for (unsigned i = 0; i < 400; i++) {
        char name[201];

        (void)snprintf(name, sizeof name, "%0200u", i);
        assert_int_equal(broker_queue_hold(rig_broker(t->rig), slice_of(name, 200), &queues[i]),
                         STATUS_OK);
    }
    peer_send(t->a, SLICE("list-tubes\r\nlist-tube-used\r\n"));
    nth_alloc_fail(n);
    rig_run(t->rig);
    failed = nth_alloc_count() >= n;
    nth_alloc_fail(0);
    heard = peer_hear(t->a);
    assert_true(
        peer_failed(t->a) || slice_equal(heard, SLICE("OUT_OF_MEMORY\r\nUSING default\r\n")) ||
        heard.len == sizeof "OK 81214\r\n" - 1 + 81214 + 2 + sizeof "USING default\r\n" - 1);
    for (unsigned i = 0; i < 400; i++) {
        broker_queue_drop(rig_broker(t->rig), queues[i]);
    }
    bean_teardown(&state);
    return failed;
}

static void each_allocation_of_a_long_list_may_fail(void **state)
{
    size_t n = 1;

    (void)state;
    while (list_without_memory(n)) {
        n++;
    }
    assert_true(n > 1);
}

// Whether the connection was closed because the n-th allocation of a batch of many jobs failed.
static bool batch_without_memory(size_t n)
{
    char put[4000];
    int len = snprintf(put, sizeof put, "put 0 0 9 3000\r\n%3000s\r\n", "");
    void *state;
    struct bean *t;
    bool failed;

    bean_setup(&state);
    t = state;
    for (int i = 0; i < 60; i++) {
        (void)peer_ask(t->b, slice_of(put, (size_t)len));
    }
    peer_send(t->a, SLICE("reserve-batch 60 0\r\n"));
    nth_alloc_fail(n);
    rig_run(t->rig);
    nth_alloc_fail(0);
    failed = peer_failed(t->a);
    if (failed) {
        stat_is(t->b, "stats-job 60\r\n", "reserves", 0);
        stat_is(t->b, "stats\r\n", "current-jobs-ready", 60);
    }
    bean_teardown(&state);
    return failed;
}

static void a_batch_without_memory_loses_no_further_job(void **state)
{
    size_t failed = 0;

    (void)state;
    for (size_t n = 1; n < 12; n++) {
        failed += batch_without_memory(n);
    }
#ifdef __SANITIZE_ADDRESS__
    assert_true(failed > 0); // with slabs, most of the memory is allocated already
#else
    (void)failed;
#endif
}

static void a_body_without_memory_is_skipped_before_the_reply(void **state)
{
    struct bean *t = *state;

    peer_send(t->a, SLICE("put 0 0 9 3\r\n"));
    nth_alloc_fail(1);
    rig_run(t->rig);
    nth_alloc_fail(0);
    hears(t->a, "");
    says(t->a, "abc", "");
    says(t->a, "\r\nlist-tube-used\r\n", "OUT_OF_MEMORY\r\nUSING default\r\n");
}

static void a_body_that_exceeds_memory_is_skipped_before_the_reply(void **state)
{
    static char body[30000];
    struct bean *t = *state;

#ifndef __SANITIZE_ADDRESS__
    skip(); // the body is in a block of a slab
#endif
    says(t->a, "put 0 0 9 60000\r\n", "");
    nth_alloc_fail(1);
    for (size_t sent = 0; sent < 60000; sent += sizeof body) {
        peer_send(t->a, slice_of(body, sizeof body));
        rig_run(t->rig);
    }
    nth_alloc_fail(0);
    hears(t->a, "");
    says(t->a, "\r\nlist-tube-used\r\n", "OUT_OF_MEMORY\r\nUSING default\r\n");
}

static void a_forbidden_body_needs_no_memory(void **state)
{
    static char body[60000];
    struct bean *t = *state;

    (void)peer_may(t->a, {MAY_OBSERVE, "*"});
    nth_alloc_fail(1);
    says(t->a, "put 0 0 9 60000\r\n", "");
    peer_send(t->a, slice_of(body, sizeof body));
    rig_run(t->rig);
    assert_int_equal(nth_alloc_count(), 0);
    nth_alloc_fail(0);
    says(t->a, "\r\n", "FORBIDDEN\r\n");
}

static void a_job_for_a_waiting_client_needs_memory_only_for_its_bytes(void **state)
{
    struct bean *t = *state;

    says(t->a, "reserve\r\n", "");
    says(t->b, "watch x\r\nreserve-with-timeout 1\r\n", "WATCHING 2\r\n");
    peer_ask(t->c, SLICE("put 0 0 1 1\r\na\r\n"));
    nth_alloc_fail(1);
    rig_advance(t->rig, SECONDS(1));
    nth_alloc_fail(0);
    assert_true(peer_failed(t->a) || peer_hear(t->a).len > 0);
    assert_true(peer_failed(t->b) || peer_hear(t->b).len > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_a_conversation_may_fail),
        cmocka_unit_test(each_allocation_of_a_body_in_pieces_may_fail),
        cmocka_unit_test(each_allocation_of_each_script_may_fail),
        cmocka_unit_test(each_allocation_of_a_long_list_may_fail),
        cmocka_unit_test(a_batch_without_memory_loses_no_further_job),
        BEAN(a_body_without_memory_is_skipped_before_the_reply),
        BEAN(a_body_that_exceeds_memory_is_skipped_before_the_reply),
        BEAN(a_forbidden_body_needs_no_memory),
        BEAN(a_job_for_a_waiting_client_needs_memory_only_for_its_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
