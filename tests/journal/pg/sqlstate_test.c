/* SPDX-License-Identifier: MIT */
#include "journal/pg/sqlstate.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>

static void expect(const char *state, enum rows_outcome outcome, bool leave)
{
    struct sqlstate_meaning verdict = sqlstate_of_error("ERROR", state);

    assert_int_equal(verdict.outcome, outcome);
    assert_int_equal(verdict.leave, leave);
}

static void an_error_that_ends_the_connection_leaves_a_doubt(void **state)
{
    struct sqlstate_meaning verdict = sqlstate_of_error("FATAL", "57P01");

    (void)state;
    assert_int_equal(verdict.outcome, ROWS_DOUBT);
    assert_true(verdict.leave);
    // For every state.
    verdict = sqlstate_of_error("FATAL", "53100");
    assert_int_equal(verdict.outcome, ROWS_DOUBT);
    assert_true(verdict.leave);
    verdict = sqlstate_of_error("PANIC", "53100");
    assert_int_equal(verdict.outcome, ROWS_DOUBT);
    assert_true(verdict.leave);
    verdict = sqlstate_of_error(NULL, NULL);
    assert_int_equal(verdict.outcome, ROWS_DOUBT);
    assert_true(verdict.leave);
    expect("08006", ROWS_DOUBT, true);
    expect("57P02", ROWS_DOUBT, true);
    expect("40003", ROWS_DOUBT, true);
}

static void a_rolled_back_transaction_may_be_tried_again(void **state)
{
    (void)state;
    expect("40001", ROWS_AWAY, false);
    expect("40P01", ROWS_AWAY, false);
    expect("55P03", ROWS_AWAY, false);
    expect("57014", ROWS_AWAY, false);
    expect("53100", ROWS_AWAY, true);
    expect("25006", ROWS_AWAY, true);
    expect("26000", ROWS_AWAY, true);
}

static void row_that_exists_already_leaves_a_doubt(void **state)
{
    (void)state;
    expect("23505", ROWS_DOUBT, false);
}

static void a_statement_that_is_not_allowed_or_known_is_refused(void **state)
{
    (void)state;
    expect("42501", ROWS_REFUSED, false);
    expect("42P01", ROWS_REFUSED, false);
    expect("23514", ROWS_REFUSED, false);
    expect("22P02", ROWS_REFUSED, false);
}

static void a_warning_reports_the_end_of_a_wait_for_a_standby(void **state)
{
    (void)state;
    assert_true(sqlstate_warns_of_commit("WARNING", "01000"));
    assert_true(sqlstate_warns_of_commit("WARNING", "57P01"));
    assert_true(sqlstate_warns_of_commit("WARNING", NULL));
    assert_false(sqlstate_warns_of_commit("NOTICE", "00000"));
    assert_false(sqlstate_warns_of_commit("WARNING", "25P01"));
    assert_false(sqlstate_warns_of_commit(NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_that_ends_the_connection_leaves_a_doubt),
        cmocka_unit_test(a_rolled_back_transaction_may_be_tried_again),
        cmocka_unit_test(row_that_exists_already_leaves_a_doubt),
        cmocka_unit_test(a_statement_that_is_not_allowed_or_known_is_refused),
        cmocka_unit_test(a_warning_reports_the_end_of_a_wait_for_a_standby),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
