/* SPDX-License-Identifier: MIT */
// Units of a journal in a database are removed while others follow.
#include "tests/journal/pg/shared_bed.h"

static struct shared_bed *bed;

static int setup(void **state)
{
    (void)state;
    bed = shared_bed_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    shared_bed_free(bed);
    return 0;
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static uint64_t kept_id, ended_id;

static void remove_what_is_to_be_read(void *context, uint64_t unit)
{
    struct member *self = context;

    if (unit == bed->db->lease.oldest && bed->db->lease.oldest < 8) {
        self->rows->reads = NULL;
        member_churn(&bed->a, 3);
        assert_true(bed->db->lease.oldest > unit);
        self->rows->reads = remove_what_is_to_be_read;
    }
}

static void remove_then_kill(struct member *self)
{
    if (self->step == 1) {
        self->rows->reads = remove_what_is_to_be_read;
        (void)member_put_kept(&self->bed->a, 10);
    } else if (self->step == 20) {
        self->rows->reads = NULL;
        member_kill(&self->bed->a);
    } else if (self->bed->a.journal) {
        member_turns(&self->bed->a);
    }
}

static void unit_that_is_removed_while_it_is_read_is_not_missed(void **state)
{
    (void)state;
    member_begin(&bed->a);
    kept_id = member_put_kept(&bed->a, 3000);
    member_churn(&bed->a, 1);
    bed->b.script = remove_then_kill;
    member_begin(&bed->b);
    assert_true(member_has(&bed->b, kept_id));
    assert_int_equal(member_count(&bed->b), 2);
}

// The lease was looked at before; the unit is the one that was read last, and not to its end.
static void remove_just_that_unit(void *context, uint64_t unit)
{
    struct member *self = context;

    if (unit == bed->db->lease.oldest && unit < bed->db->lease.unit) {
        self->rows->reads = NULL;
        bed->a.rows->unremovable = false;
        member_churn(&bed->a, 1);
        assert_int_equal(bed->db->lease.oldest, unit + 1);
    }
}

static void add_to_unit_and_begin_another(struct member *a)
{
    uint64_t unit = bed->db->lease.unit;

    a->rows->unremovable = true;
    while (bed->db->lease.unit == unit) {
        member_end(a, member_put_kept(a, 8000));
        member_wait(a);
    }
}

static void remove_what_was_read_in_part(struct member *self)
{
    if (self->step == 1) {
        add_to_unit_and_begin_another(&self->bed->a);
        self->rows->reads = remove_just_that_unit;
    } else if (self->step == 20) {
        assert_null(self->rows->reads);
        member_kill(&self->bed->a);
    } else if (self->bed->a.journal) {
        member_turns(&self->bed->a);
    }
}

static void unit_that_is_removed_before_its_rest_is_read_is_not_damage(void **state)
{
    (void)state;
    member_begin(&bed->a);
    kept_id = member_put_kept(&bed->a, 10);
    bed->b.script = remove_what_was_read_in_part;
    member_begin(&bed->b);
    assert_true(member_has(&bed->b, kept_id));
    assert_int_equal(member_count(&bed->b), 1);
}

static void no_client_is_held_back_for_a_unit_that_cannot_be_removed(void **state)
{
    (void)state;
    member_begin(&bed->a);
    bed->a.rows->unremovable = true;
    for (int i = 0; i < 300; i++) {
        member_end(&bed->a, member_put_kept(&bed->a, 8000));
        member_wait(&bed->a);
        assert_true(i < 100 || journal_pressure(bed->a.journal) == JOURNAL_EASY);
    }
    assert_true(fake_db_rows_of(bed->db, 1) > 0);
    bed->a.rows->unremovable = false;
    member_churn(&bed->a, 1);
    assert_false(fake_db_rows_of(bed->db, 1) > 0);
}

// It has read all, loses the connection, and reconnects when the ends of jobs have been removed.
static void end_jobs_while_it_is_cut_off(struct member *self)
{
    struct member *a = &self->bed->a;

    if (self->step == 1) {
        self->rows->cut = true;
        member_end(a, ended_id);
        member_churn(a, 6);
        assert_false(fake_db_rows_of(bed->db, 1) > 0);
    } else if (self->step == 3) {
        self->rows->cut = false;
    } else if (self->step == 20) {
        member_kill(a);
    } else if (a->journal) {
        member_turns(a);
    }
}

static void a_standby_that_was_cut_off_has_no_ended_jobs(void **state)
{
    (void)state;
    member_begin(&bed->a);
    ended_id = member_put_kept(&bed->a, 3000);
    kept_id = member_put_kept(&bed->a, 3000);
    bed->b.script = end_jobs_while_it_is_cut_off;
    member_begin(&bed->b);
    assert_false(member_has(&bed->b, ended_id));
    assert_true(member_has(&bed->b, kept_id));
    assert_int_equal(member_count(&bed->b), 1);
}

// It reads each unit for longer than a fifth of a lease.
static void take_time_to_read(void *context, uint64_t unit)
{
    struct member *self = context;
    struct ownership_snapshot shown;

    journal_pg_ownership(self->storage, &shown);
    assert_true(unit == 1 || shown.lease_at + shown.lease.left_for > shared_now());
    member_pass(&bed->a, SEC(1) + MSEC(200));
}

static void read_slowly_then_kill_first(struct member *self)
{
    self->rows->reads = NULL;
    shared_kill_first_at_once(self);
}

static void read_slowly(struct member *self)
{
    self->rows->reads = take_time_to_read;
}

static void a_standby_that_reads_longer_than_a_lease_sees_it_renewed(void **state)
{
    (void)state;
    member_begin(&bed->a);
    for (unsigned i = 0; i < 80; i++) {
        (void)member_put_kept(&bed->a, 8000);
    }
    assert_true(bed->db->lease.unit - bed->db->lease.oldest > 5);
    bed->b.made = read_slowly;
    bed->b.script = read_slowly_then_kill_first;
    member_begin(&bed->b);
    assert_int_equal(member_count(&bed->b), 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(unit_that_is_removed_while_it_is_read_is_not_missed),
        STORY(unit_that_is_removed_before_its_rest_is_read_is_not_damage),
        STORY(no_client_is_held_back_for_a_unit_that_cannot_be_removed),
        STORY(a_standby_that_reads_longer_than_a_lease_sees_it_renewed),
        STORY(a_standby_that_was_cut_off_has_no_ended_jobs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
