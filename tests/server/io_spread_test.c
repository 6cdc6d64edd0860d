/* SPDX-License-Identifier: MIT */
// When connections are spread over the I/O threads, and when they come back, in virtual time.
#include "server/io/spread.h"

#include "tests/support/with_cmocka.h"

// The core's thread and two more.
enum { THREADS = 3 };

#define START_AT (1000 * NSEC_PER_SEC)

struct load {
    struct spread spread;
    nsec_t now_at;
    nsec_t core_slept_for;
    nsec_t slept_for;
};

static void load_init(struct load *load, bool always)
{
    *load = (struct load){.now_at = START_AT};
    spread_init(&load->spread, always, load->now_at);
}

// Windows pass, in each of which the core's thread makes `turns` turns and is busy for `core`
// percent, and the others together for `others`.
static void pass(struct load *load, unsigned windows, unsigned turns, unsigned core,
                 unsigned others)
{
    while (windows-- > 0) {
        load->now_at += SPREAD_WINDOW;
        load->core_slept_for += SPREAD_WINDOW / 100 * (100 - (nsec_t)core);
        load->slept_for += SPREAD_WINDOW / 100 * (100 * THREADS - (nsec_t)core - (nsec_t)others);
        for (unsigned i = 1; i < turns; i++) {
            assert_false(spread_turn(&load->spread, load->now_at - 1));
        }
        assert_true(spread_turn(&load->spread, load->now_at));
        spread_judge(&load->spread, load->now_at, load->core_slept_for, load->slept_for, THREADS);
    }
}

// The time of a window, completely used, in this many turns.
#define LONG_TURNS ((unsigned)(SPREAD_WINDOW / SPREAD_TURN_FOR))

static void nothing_is_spread_at_first(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, false);
    assert_false(load.spread.on);
}

static void connections_are_spread_after_busy_windows_of_long_turns(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, false);
    pass(&load, SPREAD_BUSY_WINDOWS - 1, LONG_TURNS, 100, 0);
    assert_false(load.spread.on);
    pass(&load, 1, LONG_TURNS, 100, 0);
    assert_true(load.spread.on);
}

static void busy_windows_have_to_follow_each_other(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, false);
    for (unsigned i = 0; i < 10; i++) {
        pass(&load, SPREAD_BUSY_WINDOWS - 1, 10, 100, 0);
        pass(&load, 1, 10, SPREAD_BUSY - 1, 0);
    }
    assert_false(load.spread.on);
}

static void core_that_has_time_left_spreads_nothing(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, false);
    pass(&load, 100, 10, SPREAD_BUSY - 1, 0);
    assert_false(load.spread.on);
    pass(&load, SPREAD_BUSY_WINDOWS, 10, SPREAD_BUSY, 0);
    assert_true(load.spread.on);
}

// Single clients one after the other keep the core's thread as busy as many at once do, with a turn
// for each request.
static void lone_client_is_never_spread(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, false);
    pass(&load, 1000, LONG_TURNS + 1, 100, 0);
    assert_false(load.spread.on);
}

static void connections_come_back_when_all_threads_together_have_been_calm(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, false);
    pass(&load, SPREAD_BUSY_WINDOWS, 10, 100, 0);
    assert_true(load.spread.on);
    pass(&load, SPREAD_CALM_WINDOWS - 1, 10, 10, SPREAD_CALM - 11);
    assert_true(load.spread.on);
    pass(&load, 1, 10, 10, SPREAD_CALM - 11);
    assert_false(load.spread.on);
}

// If connections came back, the core's thread would have to do what all threads do.
static void work_of_the_other_threads_keeps_connections_there(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, false);
    pass(&load, SPREAD_BUSY_WINDOWS, 10, 100, 0);
    pass(&load, 1000, 10, 10, SPREAD_CALM - 10);
    assert_true(load.spread.on);
}

static void calm_that_is_interrupted_begins_again(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, false);
    pass(&load, SPREAD_BUSY_WINDOWS, 10, 100, 0);
    for (unsigned i = 0; i < 10; i++) {
        pass(&load, SPREAD_CALM_WINDOWS - 1, 10, 1, 1);
        pass(&load, 1, 10, 50, 50);
    }
    assert_true(load.spread.on);
}

// The load is judged in a turn: after a long sleep, that may be much later.
static void one_window_that_was_slept_through_is_calm_enough(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, false);
    pass(&load, SPREAD_BUSY_WINDOWS, 10, 100, 0);
    load.now_at += SPREAD_CALM_WINDOWS * SPREAD_WINDOW;
    load.core_slept_for += SPREAD_CALM_WINDOWS * SPREAD_WINDOW;
    load.slept_for += THREADS * SPREAD_CALM_WINDOWS * SPREAD_WINDOW;
    assert_true(spread_turn(&load.spread, load.now_at));
    spread_judge(&load.spread, load.now_at, load.core_slept_for, load.slept_for, THREADS);
    assert_false(load.spread.on);
}

// One long request is not a load.
static void one_window_that_was_worked_through_does_not_spread(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, false);
    load.now_at += 100 * SPREAD_WINDOW;
    load.slept_for += (THREADS - 1) * 100 * SPREAD_WINDOW;
    assert_true(spread_turn(&load.spread, load.now_at));
    spread_judge(&load.spread, load.now_at, load.core_slept_for, load.slept_for, THREADS);
    assert_false(load.spread.on);
}

static void load_between_calm_and_busy_changes_nothing(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, false);
    pass(&load, 100, 10, SPREAD_CALM, 0);
    assert_false(load.spread.on);
    pass(&load, SPREAD_BUSY_WINDOWS, 10, 100, 0);
    pass(&load, 100, 10, SPREAD_CALM, 0);
    assert_true(load.spread.on);
}

static void always_spreads_with_any_load(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, true);
    assert_true(load.spread.on);
    pass(&load, 1000, 1, 0, 0);
    assert_true(load.spread.on);
    pass(&load, 1000, LONG_TURNS, 100, 100);
    assert_true(load.spread.on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_spread_at_first),
        cmocka_unit_test(connections_are_spread_after_busy_windows_of_long_turns),
        cmocka_unit_test(busy_windows_have_to_follow_each_other),
        cmocka_unit_test(core_that_has_time_left_spreads_nothing),
        cmocka_unit_test(lone_client_is_never_spread),
        cmocka_unit_test(connections_come_back_when_all_threads_together_have_been_calm),
        cmocka_unit_test(work_of_the_other_threads_keeps_connections_there),
        cmocka_unit_test(calm_that_is_interrupted_begins_again),
        cmocka_unit_test(one_window_that_was_slept_through_is_calm_enough),
        cmocka_unit_test(one_window_that_was_worked_through_does_not_spread),
        cmocka_unit_test(load_between_calm_and_busy_changes_nothing),
        cmocka_unit_test(always_spreads_with_any_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
