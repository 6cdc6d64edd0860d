/* SPDX-License-Identifier: MIT */
#include "tests/journal/pg/pg_bed.h"

#include "journal/pg/journal_rows.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rows_lease look(struct journal_rows *rows)
{
    struct rows_lease lease;

    assert_int_equal(rows->ops->look(rows, &lease), ROWS_DONE);
    return lease;
}

//
// Rows
//

struct bytes {
    const char *bytes;
    size_t len;
    unsigned rows;
};

static bool compare_row(void *context, const struct rows_row *row)
{
    struct bytes *wanted = context;

    assert_true(row->len <= wanted->len);
    assert_memory_equal(row->bytes, wanted->bytes, row->len);
    wanted->bytes += row->len;
    wanted->len -= row->len;
    wanted->rows++;
    assert_int_equal(row->unit, 1);
    assert_int_equal(row->seq, wanted->rows);
    assert_int_equal(row->epoch, 1);
    return true;
}

static char *make_bytes(size_t len)
{
    char *bytes = malloc(len);

    assert_non_null(bytes);
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (char)(i * 7 + i / 256);
    }
    return bytes;
}

static void row_is_read_back_byte_for_byte_however_long(void **state)
{
    static const size_t lens[] = {0, 1, 2000, 100000};
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);
    char *bytes = make_bytes(lens[3]);
    char *all = malloc(102001);
    size_t len = 0;
    struct bytes wanted;

    assert_non_null(all);
    for (size_t i = 0; i < 4; i++) {
        struct iovec part = {.iov_base = bytes, .iov_len = lens[i]};
        struct rows_new row = {.unit = 1, .seq = i + 1, .parts = &part, .count = 1, .len = lens[i]};
        struct rows_append append = {
            .known = bed_known(epoch, row.seq - 1), .rows = &row, .count = 1};

        assert_int_equal(bed->a->ops->append(bed->a, &append), ROWS_DONE);
        memcpy(all + len, bytes, lens[i]);
        len += lens[i];
    }
    wanted = (struct bytes){.bytes = all, .len = len};
    assert_int_equal(bed->b->ops->read(bed->b, 1, 0, compare_row, &wanted), ROWS_DONE);
    assert_int_equal(wanted.len, 0);
    assert_int_equal(wanted.rows, 4);
    free(bytes);
    free(all);
}

static void rows_are_read_by_unit_and_from_a_number_on(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);
    struct rows_lease lease;

    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DONE);
    assert_int_equal(bed_append(bed->a, epoch, 1, 2, "two"), ROWS_DONE);
    // A unit of the same slot.
    assert_int_equal(bed_append(bed->a, epoch, 65, 3, "three"), ROWS_DONE);
    assert_string_equal(bed_read(bed->b, 1, 0), "1:one 2:two");
    assert_string_equal(bed_read(bed->b, 1, 1), "2:two");
    assert_string_equal(bed_read(bed->b, 1, 2), "");
    assert_string_equal(bed_read(bed->b, 65, 0), "3:three");
    assert_string_equal(bed_read(bed->b, 7, 0), "");
    lease = look(bed->b);
    assert_int_equal(lease.unit, 65);
    assert_int_equal(lease.seq, 3);
}

static bool want_no_more(void *context, const struct rows_row *row)
{
    unsigned *count = context;

    (void)row;
    return ++*count < 2;
}

static void reader_may_stop_before_the_last_row(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);
    char *large = malloc(3000001);
    unsigned count = 0;

    assert_non_null(large);
    memset(large, 'x', 3000000);
    large[3000000] = '\0';
    for (uint64_t seq = 1; seq <= 6; seq++) {
        assert_int_equal(bed_append(bed->a, epoch, seq < 4 ? 1 : 2, seq, seq < 4 ? "x" : large),
                         ROWS_DONE);
    }
    free(large);
    assert_int_equal(bed->b->ops->read(bed->b, 1, 0, want_no_more, &count), ROWS_DONE);
    assert_int_equal(count, 2);
    // More than is read in order to be dropped.
    count = 1;
    assert_int_equal(bed->b->ops->read(bed->b, 2, 0, want_no_more, &count), ROWS_DONE);
    assert_int_equal(count, 2);
    assert_string_equal(bed_read(bed->b, 1, 1), "2:x 3:x");
}

static void row_behind_a_gap_is_not_added(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);

    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DONE);
    assert_int_equal(bed_append(bed->a, epoch, 1, 3, "three"), ROWS_DOUBT);
    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "again"), ROWS_DOUBT);
    assert_string_equal(bed_read(bed->a, 1, 0), "1:one");
    assert_int_equal(look(bed->a).seq, 1);
    assert_int_equal(bed_append(bed->a, epoch, 1, 2, "two"), ROWS_DONE);
}

//
// Several rows
//

static enum rows_outcome append_three(struct journal_rows *rows, uint64_t epoch, uint64_t first_seq)
{
    static char letters[] = "abc";
    struct iovec parts[3];
    struct rows_new three[3];
    struct rows_append append = {
        .known = bed_known(epoch, first_seq - 1), .rows = three, .count = 3};

    for (size_t i = 0; i < 3; i++) {
        parts[i] = (struct iovec){.iov_base = &letters[i], .iov_len = 1};
        three[i] = (struct rows_new){
            .unit = 1, .seq = first_seq + i, .parts = &parts[i], .count = 1, .len = 1};
    }
    return rows->ops->append(rows, &append);
}

static void rows_of_one_batch_are_there_together(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);

    assert_int_equal(append_three(bed->a, epoch, 1), ROWS_DONE);
    assert_string_equal(bed_read(bed->b, 1, 0), "1:a 2:b 3:c");
    assert_int_equal(look(bed->b).seq, 3);
    assert_int_equal(append_three(bed->a, epoch, 5), ROWS_DOUBT);
    assert_string_equal(bed_read(bed->b, 1, 3), "");
}

static void a_former_owner_adds_no_row(void **state)
{
    struct bed *bed = *state;
    uint64_t stale = bed_take(bed->a);
    uint64_t epoch;

    bed_lapse(bed);
    epoch = bed_take(bed->b);
    assert_int_equal(bed_append(bed->a, stale, 1, 1, "stale"), ROWS_LOST);
    assert_int_equal(append_three(bed->a, stale, 1), ROWS_LOST);
    // A name that is right is not enough, nor an epoch.
    assert_int_equal(bed_append(bed->b, stale, 1, 1, "stale"), ROWS_LOST);
    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "stale"), ROWS_LOST);
    assert_string_equal(bed_read(bed->b, 1, 0), "");
    assert_int_equal(look(bed->b).seq, 0);
    assert_int_equal(bed_append(bed->b, epoch, 1, 1, "good"), ROWS_DONE);
    // The lease is lost while the rows of a batch are sent.
    bed_lapse(bed);
    (void)bed_take(bed->a);
    assert_int_equal(append_three(bed->b, epoch, 2), ROWS_LOST);
    assert_string_equal(bed_read(bed->b, 1, 0), "1:good");
}

static void row_of_that_number_leaves_a_doubt(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);

    (void)bed_sql(bed->admin, "INSERT INTO tandem.rows VALUES ('" BED_SHARD "', 1, 1, 1, 1, 'x')");
    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DOUBT);
    assert_int_equal(append_three(bed->a, epoch, 1), ROWS_DOUBT);
    assert_int_equal(bed_append(bed->a, epoch, 2, 1, "one"), ROWS_DONE);
}

//
// The lease
//

static void lease_of_another_is_taken_only_when_it_has_lapsed(void **state)
{
    struct bed *bed = *state;
    struct rows_lease lease = look(bed->a), taken;

    assert_int_equal(lease.epoch, 0);
    assert_int_equal(lease.oldest, 1);
    assert_int_equal(lease.unit, 0);
    assert_int_equal(lease.seq, 0);
    assert_int_equal(bed->a->ops->take(bed->a, &lease, &taken), ROWS_DONE);
    assert_int_equal(taken.epoch, 1);
    assert_string_equal(taken.holder, "a");
    assert_string_equal(taken.address, "beanstalk=127.0.0.1:11300");
    assert_true(taken.left_for > nsec_from_seconds(30));
    assert_true(taken.left_for <= nsec_from_seconds(60));
    assert_true(taken.since_ms > UINT64_C(1600000000000));
    assert_false(taken.released);
    lease = look(bed->b);
    assert_string_equal(lease.holder, "a");
    assert_int_equal(lease.since_ms, taken.since_ms);
    assert_int_equal(bed->b->ops->take(bed->b, &lease, &taken), ROWS_LOST);
    bed_lapse(bed);
    assert_true(look(bed->b).left_for <= 0);
    assert_int_equal(bed->b->ops->take(bed->b, &lease, &taken), ROWS_DONE);
    assert_int_equal(taken.epoch, 2);
    assert_string_equal(taken.holder, "b");
}

static void one_of_two_processes_gets_a_free_lease(void **state)
{
    struct bed *bed = *state;
    struct rows_lease seen = look(bed->a), taken;

    assert_int_equal(bed->a->ops->take(bed->a, &seen, &taken), ROWS_DONE);
    assert_int_equal(bed->b->ops->take(bed->b, &seen, &taken), ROWS_LOST);
    bed_lapse(bed);
    assert_int_equal(bed->b->ops->take(bed->b, &seen, &taken), ROWS_LOST);
}

static void lease_that_was_given_up_is_free_at_once(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);
    struct rows_lease lease;

    assert_int_equal(bed_release(bed->b, epoch), ROWS_LOST);
    assert_int_equal(bed_release(bed->a, epoch), ROWS_DONE);
    assert_true(look(bed->b).released);
    assert_int_equal(bed->a->ops->renew(bed->a, epoch, &lease), ROWS_LOST);
    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "late"), ROWS_LOST);
    assert_int_equal(bed_take(bed->b), epoch + 1);
    assert_false(look(bed->b).released);
}

static void lease_lasts_from_when_it_was_renewed_or_a_row_was_added(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);
    struct rows_lease lease;

    bed_lapse(bed);
    assert_int_equal(bed->a->ops->renew(bed->a, epoch, &lease), ROWS_DONE);
    assert_true(lease.left_for > nsec_from_seconds(30));
    assert_int_equal(lease.epoch, epoch);
    bed_lapse(bed);
    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DONE);
    lease = look(bed->a);
    assert_true(lease.left_for > nsec_from_seconds(30));
    assert_int_equal(bed->b->ops->renew(bed->b, epoch, &lease), ROWS_LOST);
    assert_int_equal(bed->a->ops->renew(bed->a, epoch + 1, &lease), ROWS_LOST);
}

//
// Removing
//

static void unit_that_is_removed_leaves_nothing_behind(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);

    for (uint64_t seq = 1; seq <= 20; seq++) {
        assert_int_equal(bed_append(bed->a, epoch, seq <= 10 ? 1 : 2, seq, "x"), ROWS_DONE);
    }
    assert_int_equal(bed_remove(bed->a, epoch, 1), ROWS_DONE);
    assert_int_equal(look(bed->b).oldest, 2);
    assert_string_equal(bed_read(bed->b, 1, 0), "");
    assert_string_equal(bed_read(bed->b, 2, 19), "20:x");
    assert_int_equal(bed_sql(bed->admin, "SELECT pg_relation_size('tandem.rows_" BED_SHARD "_1')"),
                     0);
}

static void unit_is_not_removed_twice_if_another_has_its_slot(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);

    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DONE);
    assert_int_equal(bed_remove(bed->a, epoch, 1), ROWS_DONE);
    assert_int_equal(bed_append(bed->a, epoch, 65, 2, "two"), ROWS_DONE);
    assert_int_equal(bed_remove(bed->a, epoch, 1), ROWS_DONE);
    assert_string_equal(bed_read(bed->a, 65, 0), "2:two");
    assert_int_equal(look(bed->a).oldest, 2);
}

// The first statement for a database that has lost rows may remove the rows that are left.
static void database_that_has_stepped_back_neither_adds_nor_removes_nor_is_given_up(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);
    struct rows_known known[] = {bed_known(epoch, 2), bed_known(epoch, 1), bed_known(epoch, 0)};

    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DONE);
    known[1].history = 1;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        static char two[] = "two";
        struct iovec part = {two, 3};
        struct rows_new row = {2, known[i].seq + 1, &part, 1, 3};
        struct rows_append append = {.known = known[i], .rows = &row, .count = 1};

        assert_int_equal(bed->a->ops->remove(bed->a, &known[i], 1), ROWS_DOUBT);
        assert_int_equal(bed->a->ops->release(bed->a, &known[i]), ROWS_DOUBT);
        assert_int_equal(bed->a->ops->append(bed->a, &append), ROWS_DOUBT);
    }
    assert_string_equal(bed_read(bed->a, 1, 0), "1:one");
    assert_int_equal(bed_append(bed->a, epoch, 1, 2, "two"), ROWS_DONE);
}

// Numbers between them were passed over, so that no two of them are in one table.
static void units_are_removed_together_if_numbers_were_skipped(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);

    for (uint64_t unit = 1; unit <= 3; unit++) {
        assert_int_equal(bed_append(bed->a, epoch, unit, unit, "old"), ROWS_DONE);
    }
    assert_int_equal(bed_append(bed->a, epoch, 68, 4, "new"), ROWS_DONE);
    assert_int_equal(bed_remove(bed->a, epoch, 67), ROWS_DONE);
    assert_int_equal(bed_sql(bed->admin, "SELECT count(*) FROM tandem.rows"), 1);
    assert_string_equal(bed_read(bed->a, 68, 0), "4:new");
    assert_int_equal(look(bed->a).oldest, 68);
}

static void younger_unit_in_the_same_table_is_not_removed(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);

    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "old"), ROWS_DONE);
    assert_int_equal(bed_append(bed->a, epoch, 65, 2, "young"), ROWS_DONE);
    assert_int_equal(bed_remove(bed->a, epoch, 1), ROWS_REFUSED);
    assert_string_equal(bed_read(bed->a, 65, 0), "2:young");
    assert_int_equal(look(bed->a).oldest, 1);
}

static void a_former_owner_removes_no_unit(void **state)
{
    struct bed *bed = *state;
    uint64_t stale = bed_take(bed->a);

    assert_int_equal(bed_append(bed->a, stale, 1, 1, "one"), ROWS_DONE);
    bed_lapse(bed);
    (void)bed_take(bed->b);
    assert_int_equal(bed_remove(bed->a, stale, 1), ROWS_LOST);
    assert_string_equal(bed_read(bed->b, 1, 0), "1:one");
    assert_int_equal(look(bed->b).oldest, 1);
}

static void unit_that_is_read_for_long_is_removed_later(void **state)
{
    struct bed *bed = *state;
    struct rows_settings settings = bed_settings("c");
    struct journal_rows *c;
    uint64_t epoch;

    settings.ttl_for = NSEC_PER_SEC;
    c = bed_open(&settings);
    epoch = bed_take(c);
    assert_int_equal(bed_append(c, epoch, 1, 1, "one"), ROWS_DONE);
    (void)bed_sql(bed->admin, "BEGIN; SELECT * FROM tandem.rows_" BED_SHARD "_1");
    assert_int_equal(bed_remove(c, epoch, 1), ROWS_AWAY);
    (void)bed_sql(bed->admin, "COMMIT");
    assert_string_equal(bed_read(c, 1, 0), "1:one");
    assert_int_equal(look(c).oldest, 1);
    assert_int_equal(bed_remove(c, epoch, 1), ROWS_DONE);
    bed_free(c);
}

//
// Members
//

static void members_see_each_other(void **state)
{
    struct bed *bed = *state;
    struct rows_member members[ROWS_MEMBERS_MAX];
    struct rows_member a = {.node = "a", .address = "x=1", .owner = true, .epoch = 7, .seq = 9};
    struct rows_member b = {.node = "b", .address = "x=2", .takes = true, .seq = 8};
    size_t count;

    assert_int_equal(bed->a->ops->report(bed->a, &a, members, &count), ROWS_DONE);
    assert_int_equal(count, 1);
    a.seq = 10;
    assert_int_equal(bed->a->ops->report(bed->a, &a, members, &count), ROWS_DONE);
    assert_int_equal(count, 1);
    assert_int_equal(members[0].seq, 10);
    assert_int_equal(bed->b->ops->report(bed->b, &b, members, &count), ROWS_DONE);
    assert_int_equal(count, 2);
    assert_string_equal(members[0].node, "b");
    assert_false(members[0].owner);
    assert_true(members[0].takes);
    assert_string_equal(members[1].node, "a");
    assert_string_equal(members[1].address, "x=1");
    assert_true(members[1].owner);
    assert_false(members[1].takes);
    assert_int_equal(members[1].epoch, 7);
    assert_int_equal(members[1].seq, 10);
    assert_true(members[1].seen_for >= 0);
    // A member that has not reported for a minute is not shown.
    (void)bed_sql(bed->admin, "UPDATE tandem.member SET seen = now() - interval '2 minutes' "
                              "WHERE node = 'a'");
    assert_int_equal(bed->b->ops->report(bed->b, &b, members, &count), ROWS_DONE);
    assert_int_equal(count, 1);
}

static void a_report_waits_for_no_other_session(void **state)
{
    struct bed *bed = *state;
    struct rows_member members[ROWS_MEMBERS_MAX];
    struct rows_member a = {.node = "a", .address = "x=1"};
    struct rows_settings settings = bed_settings("c");
    struct journal_rows *c;
    size_t count;

    // So that to wait for a lock shows: it would take all of a minute.
    settings.patience_for = nsec_from_seconds(600);
    c = bed_open(&settings);
    assert_int_equal(c->ops->report(c, &a, members, &count), ROWS_DONE);
    (void)bed_sql(bed->admin, "BEGIN; DELETE FROM tandem.member");
    assert_int_equal(c->ops->report(c, &a, members, &count), ROWS_AWAY);
    (void)bed_sql(bed->admin, "COMMIT");
    assert_int_equal(c->ops->report(c, &a, members, &count), ROWS_DONE);
    bed_free(c);
}

// There is one with a sanitizer only.
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static void owner_that_listens_keeps_no_notifications(void **state)
{
    enum { TELLINGS = 2000, NOTIFICATION = 60 };
    struct bed *bed = *state;
    struct rows_lease lease;
    uint64_t epoch;
    size_t before;

    if (!__sanitizer_get_current_allocated_bytes) {
        skip();
        return;
    }
    assert_int_equal(bed->a->ops->wait(bed->a, 0), ROWS_DONE);
    epoch = bed_take(bed->a);
    assert_int_equal(bed->a->ops->renew(bed->a, epoch, &lease), ROWS_DONE);
    before = __sanitizer_get_current_allocated_bytes();
    for (unsigned i = 0; i < TELLINGS; i++) {
        (void)bed_sql(bed->admin, "NOTIFY tandem_" BED_SHARD);
        assert_int_equal(bed->a->ops->renew(bed->a, epoch, &lease), ROWS_DONE);
    }
    assert_in_range(__sanitizer_get_current_allocated_bytes(), 0,
                    before + (size_t)TELLINGS * NOTIFICATION / 4);
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, bed_begin, bed_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(row_is_read_back_byte_for_byte_however_long),
        STORY(rows_are_read_by_unit_and_from_a_number_on),
        STORY(reader_may_stop_before_the_last_row),
        STORY(row_behind_a_gap_is_not_added),
        STORY(rows_of_one_batch_are_there_together),
        STORY(a_former_owner_adds_no_row),
        STORY(row_of_that_number_leaves_a_doubt),
        STORY(lease_of_another_is_taken_only_when_it_has_lapsed),
        STORY(one_of_two_processes_gets_a_free_lease),
        STORY(lease_that_was_given_up_is_free_at_once),
        STORY(lease_lasts_from_when_it_was_renewed_or_a_row_was_added),
        STORY(unit_that_is_removed_leaves_nothing_behind),
        STORY(unit_is_not_removed_twice_if_another_has_its_slot),
        STORY(a_former_owner_removes_no_unit),
        STORY(database_that_has_stepped_back_neither_adds_nor_removes_nor_is_given_up),
        STORY(units_are_removed_together_if_numbers_were_skipped),
        STORY(younger_unit_in_the_same_table_is_not_removed),
        STORY(unit_that_is_read_for_long_is_removed_later),
        STORY(members_see_each_other),
        STORY(a_report_waits_for_no_other_session),
        STORY(owner_that_listens_keeps_no_notifications),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
