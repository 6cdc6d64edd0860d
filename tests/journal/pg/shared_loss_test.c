/* SPDX-License-Identifier: MIT */
// A database has lost rows of a journal that several processes share.
#include "core/base/blob.h"
#include "tests/journal/pg/shared_bed.h"

#include <stdio.h>
#include <string.h>

static struct shared_bed *bed;
static bool epoch_is_lost;
static size_t lost_rows; // 0: those of the youngest unit

static int setup(void **state)
{
    (void)state;
    bed = shared_bed_new();
    epoch_is_lost = false;
    lost_rows = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    shared_bed_free(bed);
    return 0;
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static uint64_t kept_id, ended_id, late_id;
static int late_puts;
static uint64_t kept_id, ended_id, late_id, jobs_then;

static void expect_refused(const char *text)
{
    member_kill(&bed->a);
    shared_pass(bed, SEC(10));
    assert_false(member_open(&bed->b));
    if (!strstr(bed->b.why.text, text)) {
        fail_msg("said: %s", bed->b.why.text);
    }
}

static void drop_row(size_t at)
{
    struct fake_db *db = bed->db;

    free(db->rows[at].bytes);
    db->count--;
    memmove(db->rows + at, db->rows + at + 1, (db->count - at) * sizeof *db->rows);
}

static void damage_is_named_by_unit_and_row(void **state)
{
    struct fake_row *last;

    (void)state;
    member_begin(&bed->a);
    (void)member_put_kept(&bed->a, 100);
    (void)member_put_kept(&bed->a, 100);
    last = &bed->db->rows[bed->db->count - 1];
    last->bytes[last->len - 20] ^= 1;
    assert_int_equal(last->unit, 1);
    expect_refused("unit 1, row ");
}

static void rows_that_are_missing_at_the_end_are_noticed(void **state)
{
    struct rows_lease lease;

    (void)state;
    member_begin(&bed->a);
    (void)member_put_kept(&bed->a, 100);
    lease = bed->db->lease;
    fake_db_lose_rows(bed->db, 1);
    bed->db->lease = lease;
    expect_refused("unit 1, row ");
}

static void rows_that_are_missing_in_between_are_noticed(void **state)
{
    (void)state;
    member_begin(&bed->a);
    (void)member_put_kept(&bed->a, 100);
    (void)member_put_kept(&bed->a, 100);
    drop_row(bed->db->count - 2);
    expect_refused("unit 1, row ");
}

static struct fake_row *last_row_of_first_unit(void)
{
    return &bed->db->rows[fake_db_rows_of(bed->db, 1) - 1];
}

static void rows_that_are_missing_at_the_end_of_a_unit_are_noticed(void **state)
{
    (void)state;
    member_begin(&bed->a);
    member_begin_next_unit(&bed->a);
    drop_row(fake_db_rows_of(bed->db, 1) - 1);
    expect_refused("unit 2, row ");
}

static void unit_that_is_missing_is_noticed(void **state)
{
    (void)state;
    member_begin(&bed->a);
    member_begin_next_unit(&bed->a);
    while (fake_db_rows_of(bed->db, 1) > 0) {
        drop_row(0);
    }
    expect_refused("unit 1, row ");
}

static void unit_that_ends_within_a_record_is_noticed(void **state)
{
    (void)state;
    member_begin(&bed->a);
    member_begin_next_unit(&bed->a);
    last_row_of_first_unit()->len -= 20;
    expect_refused("unit 1, row ");
}

static void rows_lost_by_a_failover_are_rewritten(void **state)
{
    uint64_t id;

    (void)state;
    member_begin(&bed->a);
    id = member_put_kept(&bed->a, 100);
    (void)member_put_kept(&bed->a, 100);
    fake_db_lose_rows(bed->db, 2);
    member_pass(&bed->a, SEC(5));
    assert_true(member_acknowledged(&bed->a));
    bed->b.script = shared_kill_first_at_once;
    member_begin(&bed->b);
    assert_true(member_has(&bed->b, id));
    assert_int_equal(member_count(&bed->b), 2);
}

// It has read the rows that the database then loses.
static void lose_what_was_read(struct member *self)
{
    struct member *a = &self->bed->a;

    if (self->step == 2) {
        fake_db_lose_rows(bed->db, 1);
        member_pass(a, SEC(3));
        late_id = member_put_kept(a, 10);
    } else if (self->step == 40) {
        member_kill(a);
    } else if (a->journal) {
        member_turns(a);
    }
}

static void a_standby_that_had_read_lost_rows_gets_the_rewritten_ones(void **state)
{
    (void)state;
    member_begin(&bed->a);
    kept_id = member_put_kept(&bed->a, 100);
    ended_id = member_put_kept(&bed->a, 100);
    bed->b.script = lose_what_was_read;
    member_begin(&bed->b);
    assert_true(member_has(&bed->b, kept_id));
    assert_true(member_has(&bed->b, ended_id));
    assert_true(member_has(&bed->b, late_id));
    assert_int_equal(member_count(&bed->b), 3);
}

// It has read the unit before to its end.
static void lose_a_unit_that_was_not_read(struct member *self)
{
    struct member *a = &self->bed->a;

    if (self->step == 2) {
        a->rows->unremovable = true;
        member_begin_next_unit(a);
        fake_db_lose_rows(bed->db, fake_db_rows_of(bed->db, 2));
        member_pass(a, SEC(3));
        late_id = member_put_kept(a, 10);
        jobs_then = member_count(a);
        assert_int_equal(fake_db_rows_of(bed->db, 2), 0);
        assert_int_equal(bed->db->lease.oldest, 1);
    } else if (self->step == 6) {
        a->rows->unremovable = false;
        member_pass(a, SEC(3));
    } else if (self->step == 40) {
        member_kill(a);
    } else if (a->journal) {
        member_turns(a);
    }
}

static void unit_that_a_failover_has_lost_is_not_missed(void **state)
{
    (void)state;
    member_begin(&bed->a);
    kept_id = member_put_kept(&bed->a, 100);
    bed->b.script = lose_a_unit_that_was_not_read;
    member_begin(&bed->b);
    assert_true(member_has(&bed->b, kept_id));
    assert_true(member_has(&bed->b, late_id));
    assert_int_equal(member_count(&bed->b), jobs_then);
}

static void lose_and_go_on_to_the_same_number(struct member *self)
{
    struct member *a = &self->bed->a;

    if (self->step == 2) {
        uint64_t seq = bed->db->lease.seq;

        fake_db_lose_rows(bed->db, 3);
        a->rows->unremovable = true;
        late_id = member_put_kept(a, 10);
        while (bed->db->lease.seq < seq) {
            late_id = member_put_kept(a, 10);
        }
        member_kill(a);
    } else if (a->journal) {
        member_turns(a);
    }
}

static void a_standby_ahead_of_a_failover_reads_the_rows_that_came_instead(void **state)
{
    (void)state;
    member_begin(&bed->a);
    for (int i = 0; i < 3; i++) {
        kept_id = member_put_kept(&bed->a, 100);
    }
    bed->b.script = lose_and_go_on_to_the_same_number;
    member_begin(&bed->b);
    assert_true(member_has(&bed->b, kept_id));
    assert_true(member_has(&bed->b, late_id));
}

static void lose_and_kill_first(struct member *self)
{
    if (self->step == 2) {
        fake_db_lose_rows(bed->db, 2);
        member_kill(&self->bed->a);
    }
}

static void rows_that_only_the_standby_has_are_rewritten(void **state)
{
    (void)state;
    member_begin(&bed->a);
    kept_id = member_put_kept(&bed->a, 100);
    ended_id = member_put_kept(&bed->a, 100);
    bed->b.script = lose_and_kill_first;
    member_begin(&bed->b);
    assert_true(member_has(&bed->b, kept_id));
    member_pass(&bed->b, SEC(5));
    member_kill(&bed->b);
    shared_pass(bed, SEC(6));
    member_begin(&bed->a);
    assert_true(member_has(&bed->a, kept_id));
    assert_true(member_has(&bed->a, ended_id));
    assert_int_equal(member_count(&bed->a), 2);
}

// The owner and its database are lost together. The database that takes over is without one unit
// and the epoch in which it was begun, and a new process takes the lease before the follower does.
static void lose_all_and_have_another_come(struct member *self)
{
    struct member *a = &self->bed->a;

    if (self->step == 2) {
        size_t all = fake_db_rows_of(bed->db, bed->db->lease.unit);

        self->rows->cut = true;
        fake_db_lose_rows(bed->db, lost_rows ? lost_rows : all);
        bed->db->lease.epoch -= epoch_is_lost;
        (void)snprintf(bed->db->lease.holder, sizeof bed->db->lease.holder, "before");
        member_kill(a);
        shared_pass(bed, SEC(6));
        a->name = "another";
        member_begin(a);
        while (late_puts-- > 0) {
            late_id = member_put_kept(a, 10);
        }
        self->rows->cut = false;
    } else if (self->step == 20) {
        member_kill(a);
    } else if (a->journal) {
        member_turns(a);
    }
}

static void follow_a_database_that_another_has_changed(int puts)
{
    late_puts = puts;
    member_begin(&bed->b);
    kept_id = member_put_kept(&bed->b, 100);
    member_close(&bed->b);
    member_begin(&bed->a);
    (void)member_put_kept(&bed->a, 100);
    (void)member_put_kept(&bed->a, 100);
    bed->b.script = lose_all_and_have_another_come;
    assert_false(member_open(&bed->b));
    assert_true(bed->b.lost);
    // It follows again, in the same process.
    bed->b.script = shared_kill_first_at_once;
    member_begin(&bed->b);
    assert_true(member_has(&bed->b, kept_id));
    assert_true(member_has(&bed->b, late_id));
    assert_int_equal(member_count(&bed->b), (lost_rows ? 2 : 1) + puts);
}

static void a_standby_with_rows_unknown_to_the_owner_starts_again(void **state)
{
    (void)state;
    follow_a_database_that_another_has_changed(1);
}

static void the_same_if_the_other_process_has_advanced_meanwhile(void **state)
{
    (void)state;
    follow_a_database_that_another_has_changed(20);
}

static void the_same_if_the_epoch_repeats(void **state)
{
    (void)state;
    epoch_is_lost = true;
    follow_a_database_that_another_has_changed(20);
}

static void the_same_if_only_the_end_of_a_unit_is_lost(void **state)
{
    (void)state;
    lost_rows = 1;
    follow_a_database_that_another_has_changed(1);
}

// It is seen before it has added anything.
static void lose_rows_to_another_that_waits(struct member *self)
{
    struct member *a = &self->bed->a;
    struct rows_lease *lease = &bed->db->lease;

    if (self->step == 2) {
        fake_db_lose_rows(bed->db, 1);
        member_kill(a);
        lease->epoch++;
        (void)snprintf(lease->holder, sizeof lease->holder, "another");
        bed->db->expires_at = bed->db->now + TTL_FOR;
    } else if (self->step == 4) {
        self->rows->cut = true;
        shared_pass(bed, SEC(6));
        a->name = "another";
        member_begin(a);
        late_id = member_put_kept(a, 10);
        self->rows->cut = false;
    } else if (a->journal) {
        member_turns(a);
    }
}

static void the_same_if_the_other_process_was_seen_before_its_first_row(void **state)
{
    (void)state;
    member_begin(&bed->a);
    kept_id = member_put_kept(&bed->a, 100);
    (void)member_put_kept(&bed->a, 100);
    bed->b.script = lose_rows_to_another_that_waits;
    assert_false(member_open(&bed->b));
    assert_true(bed->b.lost);
    bed->b.script = shared_kill_first_at_once;
    member_begin(&bed->b);
    assert_true(member_has(&bed->b, kept_id));
    assert_true(member_has(&bed->b, late_id));
    assert_int_equal(member_count(&bed->b), 2);
}

//
// All live content is rewritten
//

static struct fake_db *before;
static uint64_t old_ids[40];

enum { OLD_IDS = 40 };

// Some jobs were replicated, and some were not. After a failover the owner has begun to rewrite all
// of them when it can no longer write.
static void cut_off_while_writing_anew(void *context)
{
    struct member *member = context;

    member->rows->cut |= bed->db->lease.history > 0;
}

static void begin_to_write_anew(struct member *member)
{
    member_begin(member);
    for (int i = 0; i < OLD_IDS; i++) {
        old_ids[i] = member_put_kept(member, 20000);
    }
    before = fake_db_copy(bed->db);
    kept_id = member_put_kept(member, 100);
    member_end(member, old_ids[0]);
    member_churn(member, 2);
    fake_db_restore(bed->db, before);
    fake_db_free(before);
    member->rows->changes = cut_off_while_writing_anew;
    member_pass(member, SEC(2));
    member->rows->changes = NULL;
    assert_int_equal(bed->db->lease.history, 1);
    assert_false(member_is_sound(member));
}

static void
what_a_failover_has_left_is_there_when_the_owner_dies_while_it_writes_all_anew(void **state)
{
    (void)state;
    begin_to_write_anew(&bed->a);
    assert_int_equal(bed->db->lease.oldest, 1);
    member_kill(&bed->a);
    shared_pass(bed, 2 * TTL_FOR);
    member_begin(&bed->b);
    for (int i = 0; i < OLD_IDS; i++) {
        assert_true(member_has(&bed->b, old_ids[i]));
    }
    // The process that opens it continues that, and then removes the units that are no longer
    // needed.
    member_pass(&bed->b, SEC(5));
    assert_true(member_is_sound(&bed->b));
    assert_true(bed->db->lease.oldest > 1);
    member_kill(&bed->b);
    shared_pass(bed, 2 * TTL_FOR);
    member_begin(&bed->a);
    assert_int_equal(member_count(&bed->a), OLD_IDS);
}

static void owner_that_ends_in_good_order_has_completed_the_rewrite(void **state)
{
    (void)state;
    begin_to_write_anew(&bed->a);
    bed->a.rows->cut = false;
    member_close(&bed->a);
    assert_true(bed->a.closed_well);
    member_begin(&bed->b);
    assert_true(member_has(&bed->b, kept_id));
    assert_false(member_has(&bed->b, old_ids[0]));
    assert_int_equal(member_count(&bed->b), OLD_IDS);
}

static void owner_that_cannot_complete_the_rewrite_does_not_end_well(void **state)
{
    (void)state;
    begin_to_write_anew(&bed->a);
    member_close(&bed->a);
    assert_false(bed->a.closed_well);
}

static void unit_whose_beginning_is_lost_is_not_begun_again(void **state)
{
    (void)state;
    member_begin(&bed->a);
    (void)member_put_kept(&bed->a, 100);
    (void)member_put_kept(&bed->a, 100);
    bed->db->rows[0].bytes[3] ^= 1;
    member_kill(&bed->a);
    shared_pass(bed, SEC(10));
    bed->repair = true;
    member_begin(&bed->b);
    kept_id = member_put_kept(&bed->b, 10);
    member_kill(&bed->b);
    shared_pass(bed, SEC(10));
    bed->repair = false;
    member_begin(&bed->a);
    assert_true(member_has(&bed->a, kept_id));
}

//
// The lease is taken again on a server that another line of history has
//

static struct fake_db *elsewhere;

static size_t rows_below(const struct fake_db *db, uint64_t unit)
{
    size_t count = 0;

    while (count < db->count && db->rows[count].unit < unit) {
        count++;
    }
    return count;
}

static void take_again_elsewhere(struct member *self)
{
    struct member *owner = &bed->b;

    if (self->step == 2) {
        fake_db_restore(bed->db, elsewhere);
        owner->rows->unaddable = true;
        (void)member_put(owner, "q", 10);
        member_pass(owner, SEC(1));
        assert_string_equal(bed->db->lease.holder, owner->own_name);
        assert_int_equal(bed->db->lease.seq, elsewhere->lease.seq);
    } else if (self->step == 6) {
        member_kill(owner);
    }
}

// If one line of history has a unit that begins with the next number of the other, only the moment
// at which the lease was taken tells them apart.
static void
what_a_holder_has_added_is_not_gone_on_with_elsewhere_where_it_took_the_lease_again(void **state)
{
    size_t rows;

    (void)state;
    bed->names = true;
    member_begin(&bed->a);
    jobs_then = 1;
    (void)member_put_kept(&bed->a, 10);
    before = fake_db_copy(bed->db);
    member_begin_next_unit(&bed->a);
    member_begin_next_unit(&bed->a);
    late_id = member_put_kept(&bed->a, 10);
    elsewhere = fake_db_copy(bed->db);
    rows = rows_below(elsewhere, 3);
    fake_db_restore(bed->db, before);
    member_kill(&bed->a);
    shared_pass(bed, SEC(10));
    member_begin(&bed->b);
    for (; bed->db->count < rows; jobs_then++) {
        kept_id = member_put_kept(&bed->b, 10);
    }
    assert_int_equal(bed->db->lease.unit, 2);
    assert_int_equal(bed->db->lease.history, elsewhere->lease.history);
    bed->a.script = take_again_elsewhere;
    member_begin(&bed->a);
    assert_true(member_has(&bed->a, kept_id));
    assert_false(member_has(&bed->a, late_id));
    assert_int_equal(member_count(&bed->a), jobs_then);
    fake_db_free(before);
    fake_db_free(elsewhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(damage_is_named_by_unit_and_row),
        STORY(rows_that_are_missing_at_the_end_are_noticed),
        STORY(rows_that_are_missing_in_between_are_noticed),
        STORY(rows_that_are_missing_at_the_end_of_a_unit_are_noticed),
        STORY(unit_that_is_missing_is_noticed),
        STORY(unit_that_ends_within_a_record_is_noticed),
        STORY(rows_lost_by_a_failover_are_rewritten),
        STORY(a_standby_that_had_read_lost_rows_gets_the_rewritten_ones),
        STORY(unit_that_a_failover_has_lost_is_not_missed),
        STORY(a_standby_ahead_of_a_failover_reads_the_rows_that_came_instead),
        STORY(rows_that_only_the_standby_has_are_rewritten),
        STORY(a_standby_with_rows_unknown_to_the_owner_starts_again),
        STORY(the_same_if_the_other_process_has_advanced_meanwhile),
        STORY(the_same_if_the_epoch_repeats),
        STORY(the_same_if_only_the_end_of_a_unit_is_lost),
        STORY(the_same_if_the_other_process_was_seen_before_its_first_row),
        STORY(what_a_failover_has_left_is_there_when_the_owner_dies_while_it_writes_all_anew),
        STORY(owner_that_ends_in_good_order_has_completed_the_rewrite),
        STORY(owner_that_cannot_complete_the_rewrite_does_not_end_well),
        STORY(unit_whose_beginning_is_lost_is_not_begun_again),
        STORY(what_a_holder_has_added_is_not_gone_on_with_elsewhere_where_it_took_the_lease_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
