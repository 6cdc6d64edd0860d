/* SPDX-License-Identifier: MIT */
// Nothing that a vacuum would have to clear away grows with the load: none runs here. ROWS_LOAD is
// how many rows are added, ROWS_READ how many large ones are read again; with them it prints how
// long that took.
#include "tests/journal/pg/pg_bed.h"

#include "journal/pg/db.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNITS 200
#define UNITS_KEPT 3

static unsigned from_environment(const char *name, unsigned preset)
{
    const char *text = getenv(name);

    return text ? (unsigned)strtoul(text, NULL, 10) : preset;
}

static void print_rate(const char *what, unsigned count, nsec_t took_for)
{
    print_message("%s: %u in %.3f s, %.0f a second\n", what, count, (double)took_for / NSEC_PER_SEC,
                  count * (double)NSEC_PER_SEC / (double)took_for);
}

static void expect_pages(struct bed *bed, const char *table, long long most)
{
    long long pages = bed_sql(bed->admin, "SELECT pg_relation_size('tandem.%s') / 8192", table);
    long long dead =
        bed_sql(bed->admin, "SELECT dead_tuple_count FROM pgstattuple('tandem.%s')", table);

    print_message("tandem.%s: %lld pages, %lld dead tuples\n", table, pages, dead);
    assert_in_range(pages, 0, most);
    assert_in_range(dead, 0, 500 * most);
}

static void report(struct bed *bed, uint64_t epoch, uint64_t seq)
{
    struct rows_member own = {.node = "a", .owner = true, .epoch = epoch, .seq = seq};
    struct rows_member members[ROWS_MEMBERS_MAX];
    size_t count;

    assert_int_equal(bed->a->ops->report(bed->a, &own, members, &count), ROWS_DONE);
}

// Units are added and removed; every tenth row, the lease is renewed and a report is made.
static uint64_t add_and_remove(struct bed *bed, uint64_t epoch, unsigned rows)
{
    char bytes[201];
    struct rows_lease lease;
    uint64_t oldest = 1, unit = 1;

    memset(bytes, 'x', 200);
    bytes[200] = '\0';
    for (uint64_t seq = 1; seq <= rows; seq++) {
        unit = 1 + seq * (UNITS - 1) / rows;
        assert_int_equal(bed_append(bed->a, epoch, unit, seq, bytes), ROWS_DONE);
        if (seq % 10 == 0) {
            assert_int_equal(bed->a->ops->renew(bed->a, epoch, &lease), ROWS_DONE);
            report(bed, epoch, seq);
        }
        if (unit > oldest + UNITS_KEPT) {
            assert_int_equal(bed_remove(bed->a, epoch, oldest), ROWS_DONE);
            oldest++;
        }
    }
    for (; oldest < unit; oldest++) {
        assert_int_equal(bed_remove(bed->a, epoch, oldest), ROWS_DONE);
    }
    return unit;
}

static void nothing_is_left_behind_for_a_vacuum(void **state)
{
    struct bed *bed = *state;
    unsigned rows = from_environment("ROWS_LOAD", 2000);
    nsec_t began_at = db_now();
    long long kept;
    uint64_t epoch;

    (void)bed_sql(bed->admin, "CREATE EXTENSION IF NOT EXISTS pgstattuple");
    epoch = bed_take(bed->a);
    (void)add_and_remove(bed, epoch, rows);
    print_rate("rows added, with a renewal and a report for ten, and units removed", rows,
               db_now() - began_at);
    expect_pages(bed, "lease", 8);
    expect_pages(bed, "member", 8);
    kept = bed_sql(bed->admin, "SELECT sum(pg_total_relation_size(inhrelid)) / 8192 "
                               "FROM pg_inherits WHERE inhparent = 'tandem.shard_test'::regclass");
    print_message("tandem.rows: %lld pages of all kinds\n", kept);
    // Of an empty slot, the first page of two indexes; and a unit.
    assert_in_range(kept, 0, 2 * ROWS_UNITS_MAX + 32 + rows / UNITS / 10);
}

static void rows_are_added_one_after_the_other(struct bed *bed, uint64_t epoch, unsigned rows)
{
    char bytes[201];
    nsec_t began_at = db_now();

    memset(bytes, 'x', 200);
    bytes[200] = '\0';
    for (uint64_t seq = 1; seq <= rows; seq++) {
        assert_int_equal(bed_append(bed->a, epoch, 1, seq, bytes), ROWS_DONE);
    }
    print_rate("rows of 200 bytes, one a commit", rows, db_now() - began_at);
}

struct sum {
    uint64_t rows;
    uint64_t bytes;
};

static bool count_row(void *context, const struct rows_row *row)
{
    struct sum *sum = context;

    sum->rows++;
    sum->bytes += row->len;
    return true;
}

// Rows of 100 kB: a batch of five hundred jobs of 200 bytes.
static void large_rows_are_read(struct bed *bed, uint64_t epoch, unsigned first, unsigned rows)
{
    enum { LEN = 100000 };
    char *bytes = malloc(LEN + 1);
    struct sum sum = {0};
    nsec_t began_at = db_now();

    assert_non_null(bytes);
    memset(bytes, 'x', LEN);
    bytes[LEN] = '\0';
    for (uint64_t seq = first; seq < first + rows; seq++) {
        assert_int_equal(bed_append(bed->a, epoch, 2, seq, bytes), ROWS_DONE);
    }
    free(bytes);
    print_rate("rows of 100 kB, one a commit", rows, db_now() - began_at);
    began_at = db_now();
    assert_int_equal(bed->b->ops->read(bed->b, 2, 0, count_row, &sum), ROWS_DONE);
    print_rate("rows of 100 kB read", rows, db_now() - began_at);
    assert_int_equal(sum.rows, rows);
    assert_int_equal(sum.bytes, (uint64_t)rows * LEN);
}

static void many_rows_are_added_and_read(void **state)
{
    struct bed *bed = *state;
    unsigned rows = from_environment("ROWS_LOAD", 200);
    uint64_t epoch = bed_take(bed->a);

    rows_are_added_one_after_the_other(bed, epoch, rows);
    large_rows_are_read(bed, epoch, rows + 1, from_environment("ROWS_READ", 20));
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, bed_begin, bed_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(nothing_is_left_behind_for_a_vacuum),
        STORY(many_rows_are_added_and_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
