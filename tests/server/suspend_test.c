/* SPDX-License-Identifier: MIT */

// The machine was suspended: what the loop does after the resume.

#include "server/conn/conn_private.h"
#include "server/process/suspend.h"
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOUR (3600 * NSEC_PER_SEC)

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

static nsec_t slept_for;

static void resumed(evutil_socket_t fd, short what, void *context)
{
    struct bed *bed = context;

    (void)fd;
    (void)what;
    loop_resumed(&bed->loop, slept_for);
}

// Reported by an event of the loop, as by the system.
static void tell(struct bed *bed, nsec_t sleep_for)
{
    slept_for = sleep_for;
    assert_int_equal(
        event_base_once(bed->loop.turn.base, -1, EV_TIMEOUT, resumed, bed, &(struct timeval){0}),
        0);
    bed_turns(bed, 3);
}

static void suspend(struct bed *bed, nsec_t sleep_for)
{
    bed_clock.mono += sleep_for;
    bed_clock.wall += sleep_for;
    tell(bed, sleep_for);
}

static void pass(struct bed *bed, nsec_t pass_for)
{
    bed_clock.mono += pass_for;
    bed_clock.wall += pass_for;
    bed_turns(bed, 3);
}

static void deadlines_during_a_suspend_are_handled_at_the_resume(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "late 60\n");
    bed_turns(bed, 3);
    suspend(bed, HOUR);
    bed_expect(bed, client, "late\n");
    assert_true(loop_watch_worst(&bed->loop.watch, bed_clock.mono).lag_for < NSEC_PER_SEC);
    // Without a suspension, it is.
    bed_send(bed, client, "late 60\n");
    bed_turns(bed, 3);
    pass(bed, HOUR);
    bed_expect(bed, client, "late\n");
    assert_int_equal(loop_watch_worst(&bed->loop.watch, bed_clock.mono).lag_for,
                     HOUR - 60 * NSEC_PER_SEC);
    (void)close(client);
}

static void client_could_take_no_output_meanwhile(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed->loop.turn.unread_for = 60 * NSEC_PER_SEC;
    bed_send(bed, client, "big 9000000\n");
    bed_turns(bed, 40);
    pass(bed, 50 * NSEC_PER_SEC);
    suspend(bed, HOUR);
    assert_int_equal(bed->front.open, 1);
    pass(bed, 60 * NSEC_PER_SEC - 1);
    assert_int_equal(bed->front.open, 1);
    pass(bed, 1);
    assert_int_equal(bed->front.open, 0);
    (void)close(client);
}

static void client_could_say_nothing_meanwhile(void **state)
{
    struct bed *bed = *state;
    int quiet, talker;

    bed->limits = (struct pace_limits){.idle_for = 10 * NSEC_PER_SEC, .body_for = 5 * NSEC_PER_SEC};
    bed->service.limits = &bed->limits;
    quiet = bed_connect(bed);
    talker = bed_connect(bed);
    bed_send(bed, talker, "half of a li");
    bed_turns(bed, 3);
    suspend(bed, HOUR);
    bed_expect_silence(bed, quiet);
    bed_expect_silence(bed, talker);
    pass(bed, 5 * NSEC_PER_SEC - 1);
    bed_expect_silence(bed, talker);
    pass(bed, 1);
    bed_expect(bed, talker, "slow\n");
    bed_expect_end(bed, talker);
    pass(bed, 5 * NSEC_PER_SEC - 1);
    bed_expect_silence(bed, quiet);
    pass(bed, 1);
    bed_expect(bed, quiet, "idle\n");
    bed_expect_end(bed, quiet);
}

static void woken(void *context, nsec_t told_for)
{
    slept_for = told_for;
    loop_resumed(&((struct bed *)context)->loop, told_for);
}

// A thread that stops between its wait and reading the clock sees the jump first.
static void jump_that_is_seen_before_its_event_is_checked(void **state)
{
    struct bed *bed = *state;
    struct suspend_watch watch;
    int quiet;

    bed->limits = (struct pace_limits){.idle_for = 10 * NSEC_PER_SEC};
    bed->service.limits = &bed->limits;
    suspend_watch_open(&watch, bed->loop.turn.base, woken, bed);
    bed->loop.suspend_watch = &watch;
    quiet = bed_connect(bed);
    bed_turns(bed, 3);
    slept_for = 0;
    pass(bed, 9 * NSEC_PER_SEC);
    assert_int_equal(slept_for, 0);
    watch.slept_for -= HOUR;
    pass(bed, HOUR);
    assert_true(slept_for > HOUR / 2);
    bed_expect_silence(bed, quiet);
    // Once: from then on time passes again.
    pass(bed, 10 * NSEC_PER_SEC - 1);
    bed_expect_silence(bed, quiet);
    pass(bed, 1);
    bed_expect(bed, quiet, "idle\n");
    bed_expect_end(bed, quiet);
    suspend_watch_close(&watch);
    bed->loop.suspend_watch = NULL;
}

// A step of the wall clock gives no peer more time.
static void setting_the_wall_clock_is_not_a_suspend(void **state)
{
    struct bed *bed = *state;
    int quiet;

    bed->limits = (struct pace_limits){.idle_for = 10 * NSEC_PER_SEC};
    bed->service.limits = &bed->limits;
    quiet = bed_connect(bed);
    pass(bed, 9 * NSEC_PER_SEC);
    bed_clock.wall += HOUR;
    tell(bed, 0);
    bed_expect_silence(bed, quiet);
    pass(bed, NSEC_PER_SEC);
    bed_expect(bed, quiet, "idle\n");
    bed_expect_end(bed, quiet);
}

#define SUSPEND(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SUSPEND(deadlines_during_a_suspend_are_handled_at_the_resume),
        SUSPEND(client_could_take_no_output_meanwhile),
        SUSPEND(client_could_say_nothing_meanwhile),
        SUSPEND(jump_that_is_seen_before_its_event_is_checked),
        SUSPEND(setting_the_wall_clock_is_not_a_suspend),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
