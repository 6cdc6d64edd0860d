/* SPDX-License-Identifier: MIT */

// The time limits for peers: when a command counts as begun, and when a limit is exceeded.

#include "proto_common/pace.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>

#define AT(seconds) ((nsec_t)(seconds)*NSEC_PER_SEC)

static const struct pace_limits limits = {.idle_for = AT(100), .body_for = AT(10)};

static struct pace_timer fresh(void)
{
    return (struct pace_timer){.check_at = NSEC_NEVER, .part_at = NSEC_NEVER};
}

static struct pace_view view(nsec_t now_at, enum pace_kind kind, size_t kept, uint64_t received)
{
    return (struct pace_view){.now_at = now_at,
                              .pace = {.kind = kind},
                              .reads = true,
                              .kept = kept,
                              .received = received};
}

static void note(struct pace_timer *timer, struct pace_view seen)
{
    pace_timer_note(timer, &limits, &seen);
}

static void check_says(struct pace_timer *timer, struct pace_view seen, enum pace_result result)
{
    assert_int_equal(pace_timer_check(timer, &limits, &seen), result);
}

static void a_command_moves_the_end_but_not_the_check(void **state)
{
    struct pace_timer timer = fresh();

    (void)state;
    note(&timer, view(AT(0), PACE_NEXT, 0, 0));
    assert_int_equal(timer.check_at, AT(100));
    note(&timer, view(AT(60), PACE_NEXT, 0, 10));
    assert_int_equal(timer.check_at, AT(100));
    check_says(&timer, view(AT(100), PACE_NEXT, 0, 10), PACE_IN_TIME);
    assert_int_equal(timer.check_at, AT(160));
    check_says(&timer, view(AT(160), PACE_NEXT, 0, 10), PACE_IDLE_OVER);
}

static void a_busy_unread_or_paused_connection_is_not_idle(void **state)
{
    struct pace_timer timer = fresh();
    struct pace_view unread = view(AT(200), PACE_NEXT, 0, 0);
    struct pace_view held_up = view(AT(300), PACE_NEXT, 0, 0);

    (void)state;
    unread.unread = true;
    held_up.reads = false;
    note(&timer, view(AT(0), PACE_BUSY, 0, 0));
    check_says(&timer, view(AT(100), PACE_BUSY, 0, 0), PACE_IN_TIME);
    check_says(&timer, unread, PACE_IN_TIME);
    check_says(&timer, held_up, PACE_IN_TIME);
    check_says(&timer, view(AT(399), PACE_NEXT, 0, 0), PACE_IN_TIME);
    check_says(&timer, view(AT(400), PACE_NEXT, 0, 0), PACE_IDLE_OVER);
}

static void each_kib_of_a_body_has_its_time(void **state)
{
    struct pace_timer timer = fresh();

    (void)state;
    note(&timer, view(AT(0), PACE_BODY, 0, 5));
    note(&timer, view(AT(9), PACE_BODY, 0, 5 + PACE_STEP - 1));
    check_says(&timer, view(AT(9), PACE_BODY, 0, 5 + PACE_STEP - 1), PACE_IN_TIME);
    note(&timer, view(AT(9), PACE_BODY, 0, 5 + PACE_STEP));
    check_says(&timer, view(AT(18), PACE_BODY, 0, 5 + PACE_STEP), PACE_IN_TIME);
    assert_int_equal(timer.check_at, AT(19));
    check_says(&timer, view(AT(19), PACE_BODY, 0, 5 + PACE_STEP), PACE_BODY_OVER);
}

static void another_body_restarts_the_limit(void **state)
{
    struct pace_timer timer = fresh();
    struct pace_view next = view(AT(9), PACE_BODY, 0, 20);

    (void)state;
    next.pace.begun = true;
    note(&timer, view(AT(0), PACE_BODY, 0, 5));
    note(&timer, next);
    check_says(&timer, view(AT(18), PACE_BODY, 0, 20), PACE_IN_TIME);
    check_says(&timer, view(AT(19), PACE_BODY, 0, 20), PACE_BODY_OVER);
}

static void a_line_is_limited_and_another_one_restarts_the_limit(void **state)
{
    struct pace_timer timer = fresh();

    (void)state;
    note(&timer, view(AT(0), PACE_BUSY, 3, 3));
    note(&timer, view(AT(5), PACE_BUSY, 4, 4));
    check_says(&timer, view(AT(9), PACE_BUSY, 4, 4), PACE_IN_TIME);
    // The end of the command and the beginning of the next one arrived together.
    note(&timer, view(AT(9), PACE_BUSY, 4, 10));
    check_says(&timer, view(AT(18), PACE_BUSY, 4, 10), PACE_IN_TIME);
    check_says(&timer, view(AT(19), PACE_BUSY, 4, 10), PACE_BODY_OVER);
}

static void a_peer_has_no_limit_while_the_host_does_not_read(void **state)
{
    struct pace_timer timer = fresh();
    struct pace_view held_up = view(AT(10), PACE_BODY, 0, 5);

    (void)state;
    held_up.reads = false;
    note(&timer, view(AT(0), PACE_BODY, 0, 5));
    check_says(&timer, held_up, PACE_IN_TIME);
    note(&timer, view(AT(50), PACE_BODY, 0, 5));
    check_says(&timer, view(AT(59), PACE_BODY, 0, 5), PACE_IN_TIME);
    check_says(&timer, view(AT(60), PACE_BODY, 0, 5), PACE_BODY_OVER);
}

static void a_free_connection_has_no_time_limit(void **state)
{
    struct pace_timer timer = fresh();

    (void)state;
    note(&timer, view(AT(0), PACE_FREE, 7, 7));
    check_says(&timer, view(AT(100), PACE_FREE, 7, 7), PACE_IN_TIME);
}

static void without_limits_there_is_no_check(void **state)
{
    const struct pace_limits none = {0};
    struct pace_timer timer = fresh();
    struct pace_view seen = view(AT(0), PACE_BODY, 7, 7);

    (void)state;
    pace_timer_note(&timer, &none, &seen);
    assert_int_equal(timer.check_at, NSEC_NEVER);
    assert_int_equal(pace_timer_check(&timer, &none, &seen), PACE_IN_TIME);
    assert_int_equal(timer.check_at, NSEC_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_moves_the_end_but_not_the_check),
        cmocka_unit_test(a_busy_unread_or_paused_connection_is_not_idle),
        cmocka_unit_test(each_kib_of_a_body_has_its_time),
        cmocka_unit_test(another_body_restarts_the_limit),
        cmocka_unit_test(a_line_is_limited_and_another_one_restarts_the_limit),
        cmocka_unit_test(a_peer_has_no_limit_while_the_host_does_not_read),
        cmocka_unit_test(a_free_connection_has_no_time_limit),
        cmocka_unit_test(without_limits_there_is_no_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
