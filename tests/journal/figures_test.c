/* SPDX-License-Identifier: MIT */
#include "journal/figures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void value_counts_in_the_first_bucket_whose_end_it_does_not_pass(void **state)
{
    struct figure figure = {0};

    (void)state;
    figure_count(&figure, figures_record_ends, 0, 1);
    figure_count(&figure, figures_record_ends, 1, 1);
    figure_count(&figure, figures_record_ends, 2, 1);
    figure_count(&figure, figures_record_ends, 3, 2);
    figure_count(&figure, figures_record_ends, INT64_C(65536), 1);
    figure_count(&figure, figures_record_ends, INT64_C(65537), 1);
    assert_int_equal(figure.counts[0], 2);
    assert_int_equal(figure.counts[1], 1);
    assert_int_equal(figure.counts[2], 2);
    assert_int_equal(figure.counts[16], 1);
    assert_int_equal(figure.counts[17], 1);
    assert_int_equal(figure.count, 7);
    assert_int_equal(figure.sum, 0 + 1 + 2 + 3 + 3 + 65536 + 65537);
}

static void ends_rise_to_the_last(void **state)
{
    (void)state;
    for (unsigned i = 1; i < FIGURES_BUCKETS; i++) {
        assert_true(figures_record_ends[i] > figures_record_ends[i - 1]);
        assert_true(figures_sync_ends[i] > figures_sync_ends[i - 1]);
    }
    assert_int_equal(figures_sync_ends[0], NSEC_PER_MSEC / 10);
    assert_int_equal(figures_sync_ends[FIGURES_BUCKETS - 1], INT64_MAX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_counts_in_the_first_bucket_whose_end_it_does_not_pass),
        cmocka_unit_test(ends_rise_to_the_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
