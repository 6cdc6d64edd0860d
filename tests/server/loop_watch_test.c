/* SPDX-License-Identifier: MIT */
#include "server/loop.h"

#include "tests/support/with_cmocka.h"

#define SECONDS(n) ((nsec_t)(n)*NSEC_PER_SEC)

static void worst_turn_of_the_last_minute_is_reported(void **state)
{
    struct loop_watch watch = {0};
    struct loop_window worst;

    (void)state;
    loop_watch_turn(&watch, SECONDS(1000), 50, 7);
    loop_watch_turn(&watch, SECONDS(1010), 20, 90);
    loop_watch_turn(&watch, SECONDS(1050), 30, -5);
    worst = loop_watch_worst(&watch, SECONDS(1060));
    assert_int_equal(worst.longest_for, 50);
    assert_int_equal(worst.lag_for, 90);
    assert_int_equal(watch.turns, 3);
}

static void turns_older_than_the_windows_are_forgotten(void **state)
{
    struct loop_watch watch = {0};

    (void)state;
    loop_watch_turn(&watch, SECONDS(1000), 50, 0);
    loop_watch_turn(&watch, SECONDS(1050), 30, 0);
    assert_int_equal(loop_watch_worst(&watch, SECONDS(1060)).longest_for, 50);
    assert_int_equal(loop_watch_worst(&watch, SECONDS(1076)).longest_for, 30);
    assert_int_equal(loop_watch_worst(&watch, SECONDS(1140)).longest_for, 0);
}

static void loop_that_slept_for_long_begins_again(void **state)
{
    struct loop_watch watch = {0};

    (void)state;
    loop_watch_turn(&watch, SECONDS(1000), 50, 0);
    loop_watch_turn(&watch, SECONDS(100000), 10, 0);
    assert_int_equal(loop_watch_worst(&watch, SECONDS(100001)).longest_for, 10);
    assert_int_equal(watch.turns, 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(worst_turn_of_the_last_minute_is_reported),
        cmocka_unit_test(turns_older_than_the_windows_are_forgotten),
        cmocka_unit_test(loop_that_slept_for_long_begins_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
