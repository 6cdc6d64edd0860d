/* SPDX-License-Identifier: MIT */
#include "journal/journal_private.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>

static void value_counts_in_the_first_bucket_with_a_limit_not_below_it(void **state)
{
    struct journal_histogram figure = {0};

    (void)state;
    journal_histogram_count(&figure, journal_record_buckets, 0, 1);
    journal_histogram_count(&figure, journal_record_buckets, 1, 1);
    journal_histogram_count(&figure, journal_record_buckets, 2, 1);
    journal_histogram_count(&figure, journal_record_buckets, 3, 2);
    journal_histogram_count(&figure, journal_record_buckets, INT64_C(65536), 1);
    journal_histogram_count(&figure, journal_record_buckets, INT64_C(65537), 1);
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
    for (unsigned i = 1; i < JOURNAL_BUCKETS; i++) {
        assert_true(journal_record_buckets[i] > journal_record_buckets[i - 1]);
        assert_true(journal_sync_buckets[i] > journal_sync_buckets[i - 1]);
    }
    assert_int_equal(journal_sync_buckets[0], NSEC_PER_MSEC / 10);
    assert_int_equal(journal_sync_buckets[JOURNAL_BUCKETS - 1], INT64_MAX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_counts_in_the_first_bucket_with_a_limit_not_below_it),
        cmocka_unit_test(ends_rise_to_the_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
