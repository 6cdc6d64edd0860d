/* SPDX-License-Identifier: MIT */

// The time that peers have: what counts as something that has begun, and when it is over.

#include "proto_common/pace.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define AT(seconds) ((nsec_t)(seconds)*NSEC_PER_SEC)

static const struct pace_limits limits = {.idle_for = AT(100), .body_for = AT(10)};

static struct patience fresh(void)
{
    return (struct patience){.look_at = NSEC_NEVER, .part_at = NSEC_NEVER};
}

static struct pace_view view(nsec_t now_at, enum pace_kind kind, size_t kept, uint64_t received)
{
    return (struct pace_view){.now_at = now_at,
                              .pace = {.kind = kind},
                              .reads = true,
                              .kept = kept,
                              .received = received};
}

static void note(struct patience *patience, struct pace_view seen)
{
    patience_note(patience, &limits, &seen);
}

static void look_says(struct patience *patience, struct pace_view seen, enum pace_verdict verdict)
{
    assert_int_equal(patience_look(patience, &limits, &seen), verdict);
}

static void a_command_does_not_move_the_look_but_the_end(void **state)
{
    struct patience patience = fresh();

    (void)state;
    note(&patience, view(AT(0), PACE_NEXT, 0, 0));
    assert_int_equal(patience.look_at, AT(100));
    note(&patience, view(AT(60), PACE_NEXT, 0, 10));
    assert_int_equal(patience.look_at, AT(100));
    look_says(&patience, view(AT(100), PACE_NEXT, 0, 10), PACE_KEPT);
    assert_int_equal(patience.look_at, AT(160));
    look_says(&patience, view(AT(160), PACE_NEXT, 0, 10), PACE_IDLE_OVER);
}

static void a_busy_unread_or_paused_connection_is_not_idle(void **state)
{
    struct patience patience = fresh();
    struct pace_view unread = view(AT(200), PACE_NEXT, 0, 0);
    struct pace_view held_up = view(AT(300), PACE_NEXT, 0, 0);

    (void)state;
    unread.unread = true;
    held_up.reads = false;
    note(&patience, view(AT(0), PACE_BUSY, 0, 0));
    look_says(&patience, view(AT(100), PACE_BUSY, 0, 0), PACE_KEPT);
    look_says(&patience, unread, PACE_KEPT);
    look_says(&patience, held_up, PACE_KEPT);
    look_says(&patience, view(AT(399), PACE_NEXT, 0, 0), PACE_KEPT);
    look_says(&patience, view(AT(400), PACE_NEXT, 0, 0), PACE_IDLE_OVER);
}

static void each_kib_of_a_body_has_its_time(void **state)
{
    struct patience patience = fresh();

    (void)state;
    note(&patience, view(AT(0), PACE_BODY, 0, 5));
    note(&patience, view(AT(9), PACE_BODY, 0, 5 + PACE_STEP - 1));
    look_says(&patience, view(AT(9), PACE_BODY, 0, 5 + PACE_STEP - 1), PACE_KEPT);
    note(&patience, view(AT(9), PACE_BODY, 0, 5 + PACE_STEP));
    look_says(&patience, view(AT(18), PACE_BODY, 0, 5 + PACE_STEP), PACE_KEPT);
    assert_int_equal(patience.look_at, AT(19));
    look_says(&patience, view(AT(19), PACE_BODY, 0, 5 + PACE_STEP), PACE_BODY_OVER);
}

static void another_body_restarts_the_limit(void **state)
{
    struct patience patience = fresh();
    struct pace_view next = view(AT(9), PACE_BODY, 0, 20);

    (void)state;
    next.pace.begun = true;
    note(&patience, view(AT(0), PACE_BODY, 0, 5));
    note(&patience, next);
    look_says(&patience, view(AT(18), PACE_BODY, 0, 20), PACE_KEPT);
    look_says(&patience, view(AT(19), PACE_BODY, 0, 20), PACE_BODY_OVER);
}

static void a_line_is_limited_and_another_one_restarts_the_limit(void **state)
{
    struct patience patience = fresh();

    (void)state;
    note(&patience, view(AT(0), PACE_BUSY, 3, 3));
    note(&patience, view(AT(5), PACE_BUSY, 4, 4));
    look_says(&patience, view(AT(9), PACE_BUSY, 4, 4), PACE_KEPT);
    // Its end and the beginning of the next came as one.
    note(&patience, view(AT(9), PACE_BUSY, 4, 10));
    look_says(&patience, view(AT(18), PACE_BUSY, 4, 10), PACE_KEPT);
    look_says(&patience, view(AT(19), PACE_BUSY, 4, 10), PACE_BODY_OVER);
}

static void nothing_is_expected_while_the_host_does_not_read(void **state)
{
    struct patience patience = fresh();
    struct pace_view held_up = view(AT(10), PACE_BODY, 0, 5);

    (void)state;
    held_up.reads = false;
    note(&patience, view(AT(0), PACE_BODY, 0, 5));
    look_says(&patience, held_up, PACE_KEPT);
    note(&patience, view(AT(50), PACE_BODY, 0, 5));
    look_says(&patience, view(AT(59), PACE_BODY, 0, 5), PACE_KEPT);
    look_says(&patience, view(AT(60), PACE_BODY, 0, 5), PACE_BODY_OVER);
}

static void a_deadline_of_the_front_end_is_left_to_it(void **state)
{
    struct patience patience = fresh();

    (void)state;
    note(&patience, view(AT(0), PACE_FREE, 7, 7));
    look_says(&patience, view(AT(100), PACE_FREE, 7, 7), PACE_KEPT);
}

static void without_limits_there_is_nothing_to_look_at(void **state)
{
    const struct pace_limits none = {0};
    struct patience patience = fresh();
    struct pace_view seen = view(AT(0), PACE_BODY, 7, 7);

    (void)state;
    patience_note(&patience, &none, &seen);
    assert_int_equal(patience.look_at, NSEC_NEVER);
    assert_int_equal(patience_look(&patience, &none, &seen), PACE_KEPT);
    assert_int_equal(patience.look_at, NSEC_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_does_not_move_the_look_but_the_end),
        cmocka_unit_test(a_busy_unread_or_paused_connection_is_not_idle),
        cmocka_unit_test(each_kib_of_a_body_has_its_time),
        cmocka_unit_test(another_body_restarts_the_limit),
        cmocka_unit_test(a_line_is_limited_and_another_one_restarts_the_limit),
        cmocka_unit_test(nothing_is_expected_while_the_host_does_not_read),
        cmocka_unit_test(a_deadline_of_the_front_end_is_left_to_it),
        cmocka_unit_test(without_limits_there_is_nothing_to_look_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
