/* SPDX-License-Identifier: MIT */
// The fence of a store that other processes may take over: while it is closed, nothing is sent or
// read.
#include "core/base/fence.h"
#include "server/conn/loop_turn.h"
#include "server/io/io.h"
#include "server/process/clock.h"
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int fence_setup(void **state)
{
    struct bed *bed = malloc(sizeof *bed);

    bed_init(bed, clock_now);
    bed->front.store.has_fence = true;
    fence_move(&bed->front.store.fence, NSEC_NEVER);
    bed_keep(bed);
    *state = bed;
    return 0;
}

static int fence_teardown(void **state)
{
    struct bed *bed = *state;

    bed_close(bed);
    free(bed);
    return 0;
}

static void close_fence(struct bed *bed)
{
    fence_move(&bed->front.store.fence, 0);
}

static void open_fence(struct bed *bed)
{
    fence_move(&bed->front.store.fence, NSEC_NEVER);
}

static void expect_served(struct bed *bed, int client)
{
    bed_send(bed, client, "served\n");
    bed_expect(bed, client, "served\n");
}

static void staged_output_waits_until_the_fence_is_open(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "keep a\n");
    bed_expect_silence(bed, client);
    bed->front.store.reached = 1;
    close_fence(bed);
    bed_expect_silence(bed, client);
    open_fence(bed);
    bed_expect(bed, client, "a\n");
    expect_served(bed, client);
    (void)close(client);
}

// No other event reports that there is input.
static void input_is_read_when_the_fence_is_open_again(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    unsigned feeds;

    expect_served(bed, client);
    feeds = bed->front.feeds;
    close_fence(bed);
    bed_send(bed, client, "a\n");
    bed_expect_silence(bed, client);
    assert_int_equal(bed->front.feeds, feeds);
    open_fence(bed);
    bed_expect(bed, client, "a\n");
    (void)close(client);
}

static void a_connection_that_begins_meanwhile_is_served_later(void **state)
{
    struct bed *bed = *state;
    int client;

    close_fence(bed);
    client = bed_connect(bed);
    bed_send(bed, client, "a\n");
    bed_expect_silence(bed, client);
    open_fence(bed);
    bed_expect(bed, client, "a\n");
    (void)close(client);
}

static void a_wait_that_ends_meanwhile_is_answered_later(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "block\n");
    bed_turns(bed, 3);
    close_fence(bed);
    bed_unblock(&bed->front);
    bed_expect_silence(bed, client);
    open_fence(bed);
    bed_expect(bed, client, "unblocked\n");
    (void)close(client);
}

static void operators_are_answered_all_the_time(void **state)
{
    struct bed *bed = *state;
    int client;

    bed->frontend.administers = true;
    bed->service.io.for_operators = true;
    client = bed_connect(bed);
    close_fence(bed);
    expect_served(bed, client);
    (void)close(client);
}

static void a_client_that_is_finished_gets_its_last_answer(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "keep a\nquit\n");
    bed_expect_silence(bed, client);
    bed->front.store.reached = 1;
    close_fence(bed);
    bed_expect_silence(bed, client);
    open_fence(bed);
    bed_expect(bed, client, "a\n");
    bed_expect_end(bed, client);
}

// As in a process that was stopped, and continues when its time is over.
static void a_fence_closes_at_its_time(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    expect_served(bed, client);
    fence_move(&bed->front.store.fence, clock_boot() - 1);
    bed_send(bed, client, "a\n");
    bed_expect_silence(bed, client);
    fence_move(&bed->front.store.fence, clock_boot() + NSEC_PER_SEC * 3600);
    bed_expect(bed, client, "a\n");
    (void)close(client);
}

// While the fence is closed, it is checked now and then, not in each turn.
static void expect_soon(struct bed *bed, int client, const char *text)
{
    nsec_t patience_at = clock_awake() + NSEC_PER_SEC * 60;
    struct pollfd readable = {.fd = client, .events = POLLIN};

    do {
        assert_true(clock_awake() < patience_at);
        bed_turns(bed, 1);
    } while (poll(&readable, 1, 1) == 0);
    bed_expect(bed, client, text);
}

// The loop notices that it is open, although nothing else happens.
static void a_loop_that_waits_for_the_fence_checks_it_often(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    char reply[2];

    expect_served(bed, client);
    close_fence(bed);
    bed_send(bed, client, "a\n");
    bed_turns(bed, 3);
    open_fence(bed);
    while (recv(client, reply, sizeof reply, MSG_DONTWAIT) < 0) {
        assert_int_equal(errno, EAGAIN);
        bed_turn(bed, true);
    }
    assert_memory_equal(reply, "a\n", 2);
    (void)close(client);
}

static void wake(evutil_socket_t fd, short what, void *context)
{
    bool *woken = context;

    (void)fd;
    (void)what;
    *woken = true;
}

// Unconfirmed ownership is noted, and logged, although nothing else happens.
static void a_loop_that_sleeps_wakes_when_the_fence_closes(void **state)
{
    static const struct timeval much_later = {.tv_sec = 30};
    struct bed *bed = *state;
    bool woken = false;
    struct event *event = evtimer_new(bed->loop.turn.base, wake, &woken);

    assert_non_null(event);
    assert_int_equal(evtimer_add(event, &much_later), 0);
    fence_move(&bed->front.store.fence, clock_boot() + NSEC_PER_SEC / 20);
    while (!bed->loop.turn.fenced && !woken) {
        bed_turn(bed, true);
    }
    assert_false(woken);
    event_free(event);
}

static nsec_t due_at_once(const void *context)
{
    (void)context;
    return 0;
}

static void count_slice(void *context)
{
    unsigned *slices = context;

    ++*slices;
}

// The task of the loop waits, as clients do; that of operators does not.
static void work_in_the_background_waits_for_the_fence(void **state)
{
    struct bed *bed = *state;
    unsigned jobs = 0, introspect = 0;
    struct background_task others = {.due = due_at_once, .work = count_slice, .context = &jobs};
    struct background_task operators = {
        .due = due_at_once, .work = count_slice, .context = &introspect, .for_operators = true};

    turn_add_task(&bed->loop.turn, &others);
    turn_add_task(&bed->loop.turn, &operators);
    close_fence(bed);
    bed_turns(bed, 3);
    assert_int_equal(jobs, 0);
    assert_true(introspect > 0);
    open_fence(bed);
    bed_turns(bed, 3);
    assert_true(jobs > 0);
    turn_remove_task(&bed->loop.turn, &others);
    turn_remove_task(&bed->loop.turn, &operators);
}

// The thread has the output already.
static void output_handed_to_a_thread_stays_there(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    if (!bed->loop.turn.io) {
        bed_expect_silence(bed, client);
        (void)close(client);
        return;
    }
    expect_served(bed, client);
    bed_send(bed, client, "keep a\n");
    bed_expect_silence(bed, client);
    bed->front.store.reached = 1;
    loop_turn(&bed->loop, false);
    assert_int_equal(output_pending(&bed_latest(bed)->wire.out), 0);
    close_fence(bed);
    bed_expect_silence(bed, client);
    open_fence(bed);
    expect_soon(bed, client, "a\n");
    expect_served(bed, client);
    (void)close(client);
}

#define FENCE_TEST(f) cmocka_unit_test_setup_teardown(f, fence_setup, fence_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FENCE_TEST(staged_output_waits_until_the_fence_is_open),
        FENCE_TEST(input_is_read_when_the_fence_is_open_again),
        FENCE_TEST(a_connection_that_begins_meanwhile_is_served_later),
        FENCE_TEST(a_wait_that_ends_meanwhile_is_answered_later),
        FENCE_TEST(operators_are_answered_all_the_time),
        FENCE_TEST(a_client_that_is_finished_gets_its_last_answer),
        FENCE_TEST(a_fence_closes_at_its_time),
        FENCE_TEST(a_loop_that_waits_for_the_fence_checks_it_often),
        FENCE_TEST(a_loop_that_sleeps_wakes_when_the_fence_closes),
        FENCE_TEST(work_in_the_background_waits_for_the_fence),
        FENCE_TEST(output_handed_to_a_thread_stays_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
