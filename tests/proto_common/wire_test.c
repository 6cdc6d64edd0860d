/* SPDX-License-Identifier: MIT */
// A wire: the limit for clients that do not read, and output that waits for the store.
#include "proto_common/unread.h"
#include "tests/support/with_cmocka.h"

#include <stdlib.h>

struct bench {
    struct output_pool pool;
    struct wire wire;
    unsigned dropped;
    bool overflows;
    unsigned overflow_calls;
};

static void drop(struct wire *wire, const char *why)
{
    struct bench *bench = (struct bench *)(void *)((char *)wire - offsetof(struct bench, wire));

    assert_string_equal(why, "does not read what its jobs send");
    bench->dropped++;
}

static bool overflows(struct wire *wire)
{
    struct bench *bench = (struct bench *)(void *)((char *)wire - offsetof(struct bench, wire));

    bench->overflow_calls++;
    return bench->overflows;
}

static const struct wire_host host = {.drop = drop, .overflows = overflows};

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);

    output_init(&bench->wire.out, &bench->pool);
    bench->wire.host = &host;
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;

    output_clear(&bench->wire.out);
    output_pool_clear(&bench->pool);
    free(bench);
    return 0;
}

static void stage(struct bench *bench, size_t len)
{
    static const char zeros[1000];

    output_write(&bench->wire.out, slice_of(zeros, len));
}

static void a_peer_that_leaves_too_much_unread_is_dropped(void **state)
{
    struct bench *bench = *state;

    bench->wire.out.stalled = true;
    stage(bench, 100);
    assert_false(wire_drop_unread(&bench->wire, 0, 100));
    assert_int_equal(bench->dropped, 0);
    stage(bench, 1);
    assert_true(wire_drop_unread(&bench->wire, 0, 100));
    assert_int_equal(bench->dropped, 1);
}

static void output_that_is_not_staged_yet_counts(void **state)
{
    struct bench *bench = *state;

    bench->wire.out.stalled = true;
    stage(bench, 40);
    assert_false(wire_drop_unread(&bench->wire, 60, 100));
    assert_true(wire_drop_unread(&bench->wire, 61, 100));
}

static void a_peer_that_reads_everything_may_be_sent_more(void **state)
{
    struct bench *bench = *state;

    stage(bench, 1000);
    assert_false(wire_drop_unread(&bench->wire, 1000, 100));
    assert_int_equal(bench->dropped, 0);
}

static void the_limit_of_the_host_is_checked_only_with_much_unread_output(void **state)
{
    struct bench *bench = *state;

    bench->overflows = true;
    stage(bench, 1);
    assert_false(wire_drop_unread(&bench->wire, UNREAD_SMALL, UINT64_MAX));
    bench->wire.out.stalled = true;
    assert_false(wire_drop_unread(&bench->wire, UNREAD_SMALL - 1, UINT64_MAX));
    assert_int_equal(bench->overflow_calls, 0);
    assert_true(wire_drop_unread(&bench->wire, UNREAD_SMALL, UINT64_MAX));
    bench->overflows = false;
    assert_false(wire_drop_unread(&bench->wire, UNREAD_SMALL, UINT64_MAX));
    assert_int_equal(bench->overflow_calls, 2);
    assert_int_equal(bench->dropped, 0);
}

static void output_after_a_hold_waits_for_the_store(void **state)
{
    struct bench *bench = *state;

    stage(bench, 10);
    wire_hold(&bench->wire, 0);
    assert_int_equal(bench->wire.submits, 0);
    wire_submitted(&bench->wire, 0);
    assert_int_equal(bench->wire.submits, 0);
    wire_submitted(&bench->wire, 7);
    assert_int_equal(bench->wire.submits, 1);
    stage(bench, 20);
    assert_int_equal(output_sendable(&bench->wire.out), 10);
    bench->pool.reached = 7;
    assert_int_equal(output_sendable(&bench->wire.out), 30);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_peer_that_leaves_too_much_unread_is_dropped),
        TEST(output_that_is_not_staged_yet_counts),
        TEST(the_limit_of_the_host_is_checked_only_with_much_unread_output),
        TEST(a_peer_that_reads_everything_may_be_sent_more),
        TEST(output_after_a_hold_waits_for_the_store),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
