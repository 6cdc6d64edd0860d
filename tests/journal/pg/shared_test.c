/* SPDX-License-Identifier: MIT */
// Two processes share a journal in a database: one owns it, the other follows and takes over.
#include "core/base/blob.h"
#include "core/broker.h"
#include "tests/journal/pg/shared_bed.h"

#include <stdlib.h>
#include <string.h>

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

static void open_first(void)
{
    if (!member_open(&bed->a)) {
        fail_msg("not opened: %s", bed->a.why.text);
    }
}

// Who follows now goes on until it owns.
static void take_over(void)
{
    if (!member_open(&bed->b)) {
        fail_msg("not opened: %s", bed->b.why.text);
    }
}

static void kill_first_at_once(struct member *self)
{
    if (self->step == 1) {
        member_kill(&self->bed->a);
    }
}

static uint64_t put_and_wait(struct member *member, size_t len)
{
    uint64_t id = member_put(member, "q", len);

    assert_true(id > 0);
    member_wait(member);
    return id;
}

// Jobs come and go until so many units were removed.
static void churn(struct member *member, uint64_t removed)
{
    uint64_t until = bed->db->lease.oldest + removed;

    for (int i = 0; bed->db->lease.oldest < until; i++) {
        member_end(member, put_and_wait(member, 8000));
        member_wait(member);
        assert_true(i < 5000);
    }
}

static uint64_t kept_id, ended_id, late_id;

static void work_then_kill_first(struct member *self)
{
    struct member *a = &self->bed->a;

    switch (self->step) {
    case 1:
        late_id = put_and_wait(a, 10);
        member_end(a, ended_id);
        member_wait(a);
        return;
    case 30:
        member_kill(a);
        return;
    default:
        if (a->journal) {
            member_turns(a);
        }
    }
}

static void who_follows_has_all_that_was_acknowledged(void **state)
{
    (void)state;
    open_first();
    kept_id = put_and_wait(&bed->a, 100);
    ended_id = put_and_wait(&bed->a, 100);
    bed->b.script = work_then_kill_first;
    take_over();
    assert_true(bed->b.step >= 30);
    assert_true(member_has(&bed->b, kept_id));
    assert_true(member_has(&bed->b, late_id));
    assert_int_equal(member_count(&bed->b), 2);
    // Ids are never given out twice, whatever the one before had given out.
    assert_true(put_and_wait(&bed->b, 10) > late_id + 1000);
}

static void opening_says_how_much_it_has_read(void **state)
{
    struct journal_progress progress;

    (void)state;
    open_first();
    (void)put_and_wait(&bed->a, 1000);
    bed->b.script = kill_first_at_once;
    take_over();
    journal_progress(bed->b.journal, &progress);
    assert_true(progress.read > 1000);
}

static void takeover_comes_when_the_lease_has_lapsed_and_no_sooner(void **state)
{
    nsec_t began_at = shared_now();

    (void)state;
    open_first();
    bed->b.script = kill_first_at_once;
    take_over();
    assert_in_range(shared_now() - began_at, SEC(5), SEC(6));
    assert_int_equal(bed->db->lease.epoch, 2);
}

static void lease_that_was_given_up_is_taken_at_once(void **state)
{
    nsec_t began_at = shared_now();
    uint64_t id;

    (void)state;
    open_first();
    id = put_and_wait(&bed->a, 10);
    member_close(&bed->a);
    take_over();
    assert_in_range(shared_now() - began_at, 0, MSEC(500));
    assert_true(member_has(&bed->b, id));
}

// Whoever waits for it is dropped, again and again, but not told that it is done.
static void expect_end_that_waits(struct member *a, uint64_t id)
{
    (void)member_put(a, "q", 10);
    member_pass(a, SEC(3) + MSEC(500));
    assert_true(journal_gave_up(a->journal));
    assert_true(member_may_answer(a));
    member_end(a, id);
    assert_true(broker_position(a->broker) > journal_reached(a->journal));
    member_turns(a);
    assert_false(member_acknowledged(a));
    member_pass(a, SEC(4));
    assert_true(journal_gave_up(a->journal));
    assert_false(member_acknowledged(a));
}

static void job_does_not_end_without_a_commit_though_waiting_was_given_up(void **state)
{
    uint64_t id;

    (void)state;
    open_first();
    id = put_and_wait(&bed->a, 10);
    bed->a.rows->cut = true;
    expect_end_that_waits(&bed->a, id);
    bed->a.rows->cut = false;
    member_wait(&bed->a);
    bed->b.script = kill_first_at_once;
    take_over();
    assert_false(member_has(&bed->b, id));
}

static void job_does_not_end_without_a_commit_while_the_database_refuses_rows(void **state)
{
    uint64_t id;

    (void)state;
    open_first();
    id = put_and_wait(&bed->a, 10);
    bed->a.rows->unaddable = true;
    expect_end_that_waits(&bed->a, id);
    bed->b.script = kill_first_at_once;
    take_over();
    assert_true(member_has(&bed->b, id));
}

static void commit_in_doubt_is_settled(enum fake_fate fate)
{
    uint64_t id;

    open_first();
    fake_rows_set_fate(bed->a.rows, fate, 1);
    id = member_put(&bed->a, "q", 10);
    member_turns(&bed->a);
    assert_false(member_acknowledged(&bed->a));
    member_pass(&bed->a, SEC(1));
    assert_true(member_acknowledged(&bed->a));
    bed->b.script = kill_first_at_once;
    take_over();
    assert_true(member_has(&bed->b, id));
    assert_int_equal(member_count(&bed->b), 1);
}

static void commit_whose_answer_was_lost_is_not_made_twice(void **state)
{
    (void)state;
    commit_in_doubt_is_settled(FATE_DONE);
}

static void commit_that_never_came_about_is_made_again(void **state)
{
    (void)state;
    commit_in_doubt_is_settled(FATE_UNDONE);
}

static void owner_that_slept_adds_nothing_and_answers_nothing(void **state)
{
    uint64_t seq;

    (void)state;
    open_first();
    (void)put_and_wait(&bed->a, 10);
    shared_pass(bed, SEC(6));
    take_over();
    seq = bed->db->lease.seq;
    assert_false(member_may_answer(&bed->a));
    (void)member_put(&bed->a, "q", 10);
    member_turns(&bed->a);
    assert_true(journal_is_lost(bed->a.journal));
    assert_false(member_acknowledged(&bed->a));
    assert_false(member_may_answer(&bed->a));
    assert_int_equal(bed->db->lease.seq, seq);
    assert_int_equal(bed->db->lease.epoch, 2);
    assert_true(member_may_answer(&bed->b));
}

static void fence_stands_before_the_end_of_the_lease_and_moves_with_it(void **state)
{
    (void)state;
    open_first();
    assert_true(member_may_answer(&bed->a));
    shared_pass(bed, MSEC(4400));
    assert_true(member_may_answer(&bed->a));
    shared_pass(bed, MSEC(200));
    assert_false(member_may_answer(&bed->a));
    assert_true(bed->db->expires_at > bed->db->now);
    // Nobody has taken it: it is good again.
    member_turns(&bed->a);
    assert_true(member_may_answer(&bed->a));
    member_pass(&bed->a, SEC(20));
    assert_true(member_may_answer(&bed->a));
    assert_int_equal(bed->db->lease.epoch, 1);
}

static void nothing_is_answered_while_the_database_is_away(void **state)
{
    uint64_t id;

    (void)state;
    open_first();
    bed->a.rows->cut = true;
    id = member_put(&bed->a, "q", 10);
    member_pass(&bed->a, SEC(5));
    assert_false(member_may_answer(&bed->a));
    assert_false(member_acknowledged(&bed->a));
    assert_true(journal_gave_up(bed->a.journal));
    assert_int_equal(member_put(&bed->a, "q", 10), 0);
    bed->a.rows->cut = false;
    member_pass(&bed->a, SEC(2));
    assert_true(member_may_answer(&bed->a));
    assert_true(member_has(&bed->a, id));
    (void)put_and_wait(&bed->a, 10);
    assert_int_equal(bed->db->lease.epoch, 1);
}

static void job_of_several_rows_comes_back_whole(void **state)
{
    const size_t len = ROWS_BYTES_MAX * 2 + 100;
    struct slice body;
    uint64_t id;

    (void)state;
    open_first();
    id = put_and_wait(&bed->a, len);
    assert_true(bed->db->count >= 3);
    bed->b.script = kill_first_at_once;
    take_over();
    body = job_body(broker_find(bed->b.broker, id));
    assert_int_equal(body.len, len);
    for (size_t i = 0; i < len; i++) {
        assert_true(body.ptr[i] == 'b');
    }
}

static void no_more_units_are_there_than_may_be(void **state)
{
    (void)state;
    open_first();
    for (int i = 0; i < 400; i++) {
        (void)put_and_wait(&bed->a, 20000);
    }
    churn(&bed->a, 40);
    assert_in_range(bed->db->most_units, 2, ROWS_UNITS_MAX);
    bed->b.script = kill_first_at_once;
    take_over();
    assert_int_equal(member_count(&bed->b), 400);
}

//
// Units that are removed
//

static void remove_what_is_to_be_read(void *context, uint64_t unit)
{
    struct member *self = context;

    if (unit == bed->db->lease.oldest && bed->db->lease.oldest < 8) {
        self->rows->reads = NULL;
        churn(&bed->a, 3);
        assert_true(bed->db->lease.oldest > unit);
        self->rows->reads = remove_what_is_to_be_read;
    }
}

static void remove_then_kill(struct member *self)
{
    if (self->step == 1) {
        self->rows->reads = remove_what_is_to_be_read;
        (void)put_and_wait(&self->bed->a, 10);
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
    open_first();
    kept_id = put_and_wait(&bed->a, 3000);
    churn(&bed->a, 1);
    bed->b.script = remove_then_kill;
    take_over();
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
        churn(&bed->a, 1);
        assert_int_equal(bed->db->lease.oldest, unit + 1);
    }
}

static void add_to_unit_and_begin_another(struct member *a)
{
    uint64_t unit = bed->db->lease.unit;

    a->rows->unremovable = true;
    while (bed->db->lease.unit == unit) {
        member_end(a, put_and_wait(a, 8000));
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

static void unit_that_is_removed_before_its_rest_is_read_is_no_damage(void **state)
{
    (void)state;
    open_first();
    kept_id = put_and_wait(&bed->a, 10);
    bed->b.script = remove_what_was_read_in_part;
    take_over();
    assert_true(member_has(&bed->b, kept_id));
    assert_int_equal(member_count(&bed->b), 1);
}

static void nobody_is_held_back_for_a_unit_that_cannot_be_removed(void **state)
{
    (void)state;
    open_first();
    bed->a.rows->unremovable = true;
    for (int i = 0; i < 300; i++) {
        member_end(&bed->a, put_and_wait(&bed->a, 8000));
        member_wait(&bed->a);
        assert_true(i < 100 || journal_pressure(bed->a.journal) == JOURNAL_EASY);
    }
    assert_true(fake_db_rows_of(bed->db, 1) > 0);
    bed->a.rows->unremovable = false;
    churn(&bed->a, 1);
    assert_false(fake_db_rows_of(bed->db, 1) > 0);
}

// It has read all, is cut off, and comes back when the ends of jobs have been removed.
static void end_jobs_while_it_is_cut_off(struct member *self)
{
    struct member *a = &self->bed->a;

    if (self->step == 1) {
        self->rows->cut = true;
        member_end(a, ended_id);
        churn(a, 6);
        assert_false(fake_db_rows_of(bed->db, 1) > 0);
    } else if (self->step == 3) {
        self->rows->cut = false;
    } else if (self->step == 20) {
        member_kill(a);
    } else if (a->journal) {
        member_turns(a);
    }
}

static void who_was_cut_off_has_no_jobs_that_ended_meanwhile(void **state)
{
    (void)state;
    open_first();
    ended_id = put_and_wait(&bed->a, 3000);
    kept_id = put_and_wait(&bed->a, 3000);
    bed->b.script = end_jobs_while_it_is_cut_off;
    take_over();
    assert_false(member_has(&bed->b, ended_id));
    assert_true(member_has(&bed->b, kept_id));
    assert_int_equal(member_count(&bed->b), 1);
}

//
// What the database loses
//

static void expect_refused(const char *text)
{
    member_kill(&bed->a);
    shared_pass(bed, SEC(10));
    assert_false(member_open(&bed->b));
    if (!strstr(bed->b.why.text, text)) {
        fail_msg("said: %s", bed->b.why.text);
    }
}

static void damage_is_named_by_unit_and_row(void **state)
{
    struct fake_row *last;

    (void)state;
    open_first();
    (void)put_and_wait(&bed->a, 100);
    (void)put_and_wait(&bed->a, 100);
    last = &bed->db->rows[bed->db->count - 1];
    last->bytes[last->len - 20] ^= 1;
    assert_int_equal(last->unit, 1);
    expect_refused("unit 1, row ");
}

static void rows_that_are_missing_at_the_end_are_noticed(void **state)
{
    struct rows_lease lease;

    (void)state;
    open_first();
    (void)put_and_wait(&bed->a, 100);
    lease = bed->db->lease;
    fake_db_lose_rows(bed->db, 1);
    bed->db->lease = lease;
    expect_refused("unit 1, row ");
}

static void rows_that_are_missing_in_between_are_noticed(void **state)
{
    (void)state;
    open_first();
    (void)put_and_wait(&bed->a, 100);
    (void)put_and_wait(&bed->a, 100);
    free(bed->db->rows[bed->db->count - 2].bytes);
    bed->db->rows[bed->db->count - 2] = bed->db->rows[bed->db->count - 1];
    bed->db->count--;
    expect_refused("unit 1, row ");
}

static void what_a_failover_has_lost_is_written_anew(void **state)
{
    uint64_t id;

    (void)state;
    open_first();
    id = put_and_wait(&bed->a, 100);
    (void)put_and_wait(&bed->a, 100);
    fake_db_lose_rows(bed->db, 2);
    member_pass(&bed->a, SEC(5));
    assert_true(member_acknowledged(&bed->a));
    bed->b.script = kill_first_at_once;
    take_over();
    assert_true(member_has(&bed->b, id));
    assert_int_equal(member_count(&bed->b), 2);
}

// It has read what the database has lost then.
static void lose_what_was_read(struct member *self)
{
    struct member *a = &self->bed->a;

    if (self->step == 2) {
        fake_db_lose_rows(bed->db, 1);
        member_pass(a, SEC(3));
        late_id = put_and_wait(a, 10);
    } else if (self->step == 40) {
        member_kill(a);
    } else if (a->journal) {
        member_turns(a);
    }
}

static void who_had_read_what_a_failover_has_lost_has_what_is_written_anew(void **state)
{
    (void)state;
    open_first();
    kept_id = put_and_wait(&bed->a, 100);
    ended_id = put_and_wait(&bed->a, 100);
    bed->b.script = lose_what_was_read;
    take_over();
    assert_true(member_has(&bed->b, kept_id));
    assert_true(member_has(&bed->b, ended_id));
    assert_true(member_has(&bed->b, late_id));
    assert_int_equal(member_count(&bed->b), 3);
}

static void lose_and_go_on_to_the_same_number(struct member *self)
{
    struct member *a = &self->bed->a;

    if (self->step == 2) {
        uint64_t seq = bed->db->lease.seq;

        fake_db_lose_rows(bed->db, 3);
        a->rows->unremovable = true;
        late_id = put_and_wait(a, 10);
        while (bed->db->lease.seq < seq) {
            late_id = put_and_wait(a, 10);
        }
        member_kill(a);
    } else if (a->journal) {
        member_turns(a);
    }
}

static void who_is_ahead_of_what_a_failover_has_left_reads_what_came_instead(void **state)
{
    (void)state;
    open_first();
    for (int i = 0; i < 3; i++) {
        kept_id = put_and_wait(&bed->a, 100);
    }
    bed->b.script = lose_and_go_on_to_the_same_number;
    take_over();
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

static void what_only_the_follower_has_left_is_written_anew(void **state)
{
    (void)state;
    open_first();
    kept_id = put_and_wait(&bed->a, 100);
    ended_id = put_and_wait(&bed->a, 100);
    bed->b.script = lose_and_kill_first;
    take_over();
    assert_true(member_has(&bed->b, kept_id));
    member_pass(&bed->b, SEC(5));
    member_kill(&bed->b);
    shared_pass(bed, SEC(6));
    open_first();
    assert_true(member_has(&bed->a, kept_id));
    assert_true(member_has(&bed->a, ended_id));
    assert_int_equal(member_count(&bed->a), 2);
}

static void fail_to_take(struct member *self)
{
    if (self->step == 1) {
        member_kill(&self->bed->a);
        fake_rows_set_fate(self->rows, FATE_AWAY, 10);
    }
}

static void who_cannot_take_the_lease_does_not_ask_without_a_pause(void **state)
{
    nsec_t began_at = shared_now();

    (void)state;
    open_first();
    bed->b.script = fail_to_take;
    take_over();
    assert_in_range(shared_now() - began_at, SEC(6), SEC(12));
    assert_int_equal(bed->b.rows->calls > 10, 1);
}

static void unit_whose_beginning_is_lost_is_not_begun_again(void **state)
{
    (void)state;
    open_first();
    (void)put_and_wait(&bed->a, 100);
    (void)put_and_wait(&bed->a, 100);
    bed->db->rows[0].bytes[3] ^= 1;
    member_kill(&bed->a);
    shared_pass(bed, SEC(10));
    bed->repair = true;
    take_over();
    kept_id = put_and_wait(&bed->b, 10);
    member_kill(&bed->b);
    shared_pass(bed, SEC(10));
    bed->repair = false;
    open_first();
    assert_true(member_has(&bed->a, kept_id));
}

// Each try takes as long as the lease lasts, where the database is silent.
static void closing_does_not_wait_for_a_database_that_has_been_away(void **state)
{
    unsigned calls;

    (void)state;
    open_first();
    bed->a.rows->cut = true;
    (void)member_put(&bed->a, "q", 10);
    member_turns(&bed->a);
    shared_pass(bed, SEC(5));
    calls = bed->db->calls;
    member_close(&bed->a);
    assert_int_equal(bed->db->calls, calls);
}

static void closing_writes_what_waits(void **state)
{
    uint64_t id;

    (void)state;
    open_first();
    fake_rows_set_fate(bed->a.rows, FATE_UNDONE, 2);
    id = member_put(&bed->a, "q", 10);
    member_close(&bed->a);
    take_over();
    assert_true(member_has(&bed->b, id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(who_follows_has_all_that_was_acknowledged),
        STORY(opening_says_how_much_it_has_read),
        STORY(takeover_comes_when_the_lease_has_lapsed_and_no_sooner),
        STORY(lease_that_was_given_up_is_taken_at_once),
        STORY(job_does_not_end_without_a_commit_though_waiting_was_given_up),
        STORY(job_does_not_end_without_a_commit_while_the_database_refuses_rows),
        STORY(commit_whose_answer_was_lost_is_not_made_twice),
        STORY(commit_that_never_came_about_is_made_again),
        STORY(owner_that_slept_adds_nothing_and_answers_nothing),
        STORY(fence_stands_before_the_end_of_the_lease_and_moves_with_it),
        STORY(nothing_is_answered_while_the_database_is_away),
        STORY(job_of_several_rows_comes_back_whole),
        STORY(no_more_units_are_there_than_may_be),
        STORY(unit_that_is_removed_while_it_is_read_is_not_missed),
        STORY(unit_that_is_removed_before_its_rest_is_read_is_no_damage),
        STORY(nobody_is_held_back_for_a_unit_that_cannot_be_removed),
        STORY(who_was_cut_off_has_no_jobs_that_ended_meanwhile),
        STORY(damage_is_named_by_unit_and_row),
        STORY(rows_that_are_missing_at_the_end_are_noticed),
        STORY(rows_that_are_missing_in_between_are_noticed),
        STORY(what_a_failover_has_lost_is_written_anew),
        STORY(who_had_read_what_a_failover_has_lost_has_what_is_written_anew),
        STORY(who_is_ahead_of_what_a_failover_has_left_reads_what_came_instead),
        STORY(what_only_the_follower_has_left_is_written_anew),
        STORY(who_cannot_take_the_lease_does_not_ask_without_a_pause),
        STORY(unit_whose_beginning_is_lost_is_not_begun_again),
        STORY(closing_does_not_wait_for_a_database_that_has_been_away),
        STORY(closing_writes_what_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
