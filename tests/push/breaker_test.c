/* SPDX-License-Identifier: MIT */
// The pauses of an endpoint that is down.
#include "push/breaker.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>

#define SECONDS(n) ((nsec_t)(n)*NSEC_PER_SEC)

static void some_failures_change_nothing(void **state)
{
    struct breaker breaker = {0};

    (void)state;
    for (unsigned i = 0; i + 1 < BREAKER_FAILURES; i++) {
        assert_int_equal(breaker_most(&breaker, 0, 8), 8);
        breaker_fail(&breaker, 0);
    }
    assert_int_equal(breaker_most(&breaker, 0, 8), 8);
}

static void open_breaker(struct breaker *breaker, nsec_t now_at)
{
    for (unsigned i = 0; i < BREAKER_FAILURES; i++) {
        breaker_fail(breaker, now_at);
    }
}

static void failures_in_a_row_pause_and_then_one_is_tried(void **state)
{
    struct breaker breaker = {0};

    (void)state;
    open_breaker(&breaker, SECONDS(5));
    assert_int_equal(breaker_most(&breaker, SECONDS(5), 8), 0);
    assert_int_equal(breaker_most(&breaker, SECONDS(6) - 1, 8), 0);
    assert_int_equal(breaker_most(&breaker, SECONDS(6), 8), 1);
}

static void pauses_double_up_to_the_longest(void **state)
{
    struct breaker breaker = {0};
    nsec_t now_at = SECONDS(5);
    nsec_t pause_for = BREAKER_PAUSE_MIN;

    (void)state;
    open_breaker(&breaker, now_at);
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(breaker.open_until - now_at, pause_for);
        now_at = breaker.open_until;
        breaker_fail(&breaker, now_at);
        pause_for = pause_for * 2 < BREAKER_PAUSE_MAX ? pause_for * 2 : BREAKER_PAUSE_MAX;
    }
    assert_int_equal(pause_for, BREAKER_PAUSE_MAX);
}

static void failures_of_requests_sent_before_it_opened_count_once(void **state)
{
    struct breaker breaker = {0};

    (void)state;
    open_breaker(&breaker, SECONDS(5));
    for (unsigned i = 0; i < 100; i++) {
        breaker_fail(&breaker, SECONDS(5));
    }
    assert_int_equal(breaker.open_until, SECONDS(6));
}

static void success_closes_it(void **state)
{
    struct breaker breaker = {0};

    (void)state;
    open_breaker(&breaker, SECONDS(5));
    breaker_succeed(&breaker);
    assert_int_equal(breaker_most(&breaker, SECONDS(5), 8), 8);
    breaker_fail(&breaker, SECONDS(5));
    assert_int_equal(breaker_most(&breaker, SECONDS(5), 8), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_failures_change_nothing),
        cmocka_unit_test(failures_in_a_row_pause_and_then_one_is_tried),
        cmocka_unit_test(pauses_double_up_to_the_longest),
        cmocka_unit_test(failures_of_requests_sent_before_it_opened_count_once),
        cmocka_unit_test(success_closes_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
