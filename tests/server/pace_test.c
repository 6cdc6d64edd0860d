/* SPDX-License-Identifier: MIT */

// Clients that take too long: the time limits of front-ends.

#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/conn/conn_private.h"
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int setup(void **state)
{
    struct bed *bed = malloc(sizeof *bed);

    bed_init(bed, bed_now);
    *state = bed;
    return 0;
}

static int teardown(void **state)
{
    bed_close(*state);
    free(*state);
    return 0;
}

static void limit(struct bed *bed, nsec_t idle_for, nsec_t body_for)
{
    bed->limits = (struct pace_limits){.idle_for = idle_for, .body_for = body_for};
    bed->service.limits = &bed->limits;
}

// Lets `seconds` seconds pass, one after the other.
static void pass(struct bed *bed, unsigned seconds)
{
    while (seconds-- > 0) {
        bed_clock.mono += NSEC_PER_SEC;
        bed_turns(bed, 3);
    }
}

static void without_limits_a_connection_has_no_deadline(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "hello\nhal");
    bed_expect(bed, client, "hello\n");
    assert_null(bed_latest(bed)->deadline);
    pass(bed, 1000);
    bed_send(bed, client, "lo\n");
    bed_expect(bed, client, "hallo\n");
    (void)close(client);
}

static void with_a_limit_for_bodies_alone_an_idle_connection_has_no_deadline(void **state)
{
    struct bed *bed = *state;
    int client;

    limit(bed, 0, 10 * NSEC_PER_SEC);
    client = bed_connect(bed);
    bed_send(bed, client, "hello\n");
    bed_expect(bed, client, "hello\n");
    assert_null(bed_latest(bed)->deadline);
    (void)close(client);
}

// The bytes that are counted for one more connection while it is there.
static size_t counted_for_one(struct bed *bed)
{
    size_t before = memory_counted();
    int client = bed_connect(bed);
    size_t during = memory_counted();

    (void)close(client);
    bed_turns(bed, 3);
    assert_int_equal(memory_counted(), before);
    return during - before;
}

static void deadlines_are_counted_as_memory(void **state)
{
    struct bed *bed = *state;
    size_t without;

    // The batches between threads are made by the first connections, and stay.
    for (int i = 0; i < 3; i++) {
        (void)close(bed_connect(bed));
        bed_turns(bed, 3);
    }
    without = counted_for_one(bed);
    limit(bed, 10 * NSEC_PER_SEC, 0);
    assert_int_equal(counted_for_one(bed) - without,
                     sizeof(struct conn_deadline) + sizeof(struct pace_timer));
}

static void silent_client_is_closed_after_the_idle_timeout(void **state)
{
    struct bed *bed = *state;
    int quiet, talker;

    limit(bed, 10 * NSEC_PER_SEC, 0);
    quiet = bed_connect(bed);
    talker = bed_connect(bed);
    pass(bed, 9);
    bed_send(bed, talker, "hello\n");
    bed_expect(bed, talker, "hello\n");
    pass(bed, 1);
    bed_expect(bed, quiet, "idle\n");
    bed_expect_end(bed, quiet);
    pass(bed, 8);
    bed_expect_silence(bed, talker);
    pass(bed, 1);
    bed_expect(bed, talker, "idle\n");
    bed_expect_end(bed, talker);
}

static void blocked_client_and_one_that_does_not_read_are_not_idle(void **state)
{
    struct bed *bed = *state;
    struct bed_front *front = &bed->front;
    char *much = malloc(3000001);
    int blocked, deaf;

    limit(bed, 10 * NSEC_PER_SEC, 5 * NSEC_PER_SEC);
    deaf = bed_connect(bed);
    bed_send(bed, deaf, "big 3000000\n");
    blocked = bed_connect(bed);
    bed_send(bed, blocked, "block\nkept");
    pass(bed, 50);
    bed_expect_silence(bed, blocked);
    bed_unblock(front);
    bed_expect(bed, blocked, "unblocked\n");
    memset(much, 'B', 3000000);
    much[3000000] = '\0';
    bed_expect(bed, deaf, much);
    free(much);
    (void)close(blocked);
    (void)close(deaf);
}

static void slow_body_is_dropped_and_a_steady_one_is_not(void **state)
{
    struct bed *bed = *state;
    char kib[PACE_STEP + 1];
    int slow, good;

    memset(kib, 'x', PACE_STEP);
    kib[PACE_STEP] = '\0';
    limit(bed, 0, 10 * NSEC_PER_SEC);
    slow = bed_connect(bed);
    good = bed_connect(bed);
    bed_send(bed, slow, "take 5000\n");
    bed_send(bed, good, "take 5000\n");
    for (unsigned i = 0; i < 3; i++) {
        pass(bed, 3);
        bed_send(bed, slow, "x");
        bed_send(bed, good, kib);
    }
    pass(bed, 1);
    bed_expect(bed, slow, "slow\n");
    bed_expect_end(bed, slow);
    pass(bed, 8);
    bed_expect_silence(bed, good);
    pass(bed, 1);
    bed_expect(bed, good, "slow\n");
    bed_expect_end(bed, good);
}

static void unfinished_line_has_its_time_from_its_beginning(void **state)
{
    struct bed *bed = *state;
    int client;

    limit(bed, 0, 10 * NSEC_PER_SEC);
    client = bed_connect(bed);
    bed_send(bed, client, "a");
    pass(bed, 9);
    bed_send(bed, client, "\nb");
    bed_expect(bed, client, "a\n");
    pass(bed, 9);
    bed_send(bed, client, "c");
    bed_expect_silence(bed, client);
    pass(bed, 1);
    bed_expect(bed, client, "slow\n");
    bed_expect_end(bed, client);
}

static void limit_that_is_set_later_applies_to_idle_connections(void **state)
{
    enum { MANY = BROKER_SLICE + 10 };
    struct bed *bed = *state;
    int clients[MANY];

    for (size_t i = 0; i < MANY; i++) {
        clients[i] = bed_connect(bed);
    }
    pass(bed, 100);
    limit(bed, 10 * NSEC_PER_SEC, 0);
    turn_walk_begin(&bed->loop.turn, WALK_REVIEW);
    // A connection that is checked next may end before that.
    (void)close(clients[BROKER_SLICE]);
    bed_turns(bed, 5);
    pass(bed, 10);
    for (size_t i = 0; i < MANY; i++) {
        if (i != BROKER_SLICE) {
            bed_expect(bed, clients[i], "idle\n");
            bed_expect_end(bed, clients[i]);
        }
    }
}

static void limit_that_is_removed_hurries_no_peer(void **state)
{
    struct bed *bed = *state;
    int client;

    limit(bed, 10 * NSEC_PER_SEC, 0);
    client = bed_connect(bed);
    bed->service.limits = NULL;
    pass(bed, 30);
    bed_send(bed, client, "hello\n");
    bed_expect(bed, client, "hello\n");
    (void)close(client);
}

static void front_end_may_have_a_deadline_of_its_own_besides(void **state)
{
    struct bed *bed = *state;
    int client;

    limit(bed, 10 * NSEC_PER_SEC, 0);
    client = bed_connect(bed);
    bed_send(bed, client, "late 4\n");
    pass(bed, 4);
    bed_expect(bed, client, "late\n");
    pass(bed, 9);
    bed_expect_silence(bed, client);
    pass(bed, 1);
    bed_expect(bed, client, "idle\n");
    bed_expect_end(bed, client);
}

static void without_memory_for_its_time_the_connection_is_closed(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    limit(bed, 10 * NSEC_PER_SEC, 0);
    nth_alloc_fail(1);
    turn_walk_begin(&bed->loop.turn, WALK_REVIEW);
    bed_turns(bed, 2);
    nth_alloc_fail(0);
    bed_expect_end(bed, client);
}

#define PACE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PACE(without_limits_a_connection_has_no_deadline),
        PACE(with_a_limit_for_bodies_alone_an_idle_connection_has_no_deadline),
        PACE(silent_client_is_closed_after_the_idle_timeout),
        PACE(blocked_client_and_one_that_does_not_read_are_not_idle),
        PACE(slow_body_is_dropped_and_a_steady_one_is_not),
        PACE(unfinished_line_has_its_time_from_its_beginning),
        PACE(limit_that_is_set_later_applies_to_idle_connections),
        PACE(limit_that_is_removed_hurries_no_peer),
        PACE(front_end_may_have_a_deadline_of_its_own_besides),
        PACE(deadlines_are_counted_as_memory),
        PACE(without_memory_for_its_time_the_connection_is_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
