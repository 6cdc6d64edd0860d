/* SPDX-License-Identifier: MIT */
// Two processes share a journal in a database: one owns it, the other follows and takes over.
#include "core/broker.h"
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

static uint64_t kept_id, ended_id, late_id;

static void work_then_kill_first(struct member *self)
{
    struct member *a = &self->bed->a;

    switch (self->step) {
    case 1:
        late_id = member_put_kept(a, 10);
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

static void a_standby_has_all_acknowledged_jobs(void **state)
{
    (void)state;
    member_begin(&bed->a);
    kept_id = member_put_kept(&bed->a, 100);
    ended_id = member_put_kept(&bed->a, 100);
    bed->b.script = work_then_kill_first;
    member_begin(&bed->b);
    assert_true(bed->b.step >= 30);
    assert_true(member_has(&bed->b, kept_id));
    assert_true(member_has(&bed->b, late_id));
    assert_int_equal(member_count(&bed->b), 2);
    // Ids are never given out twice, whatever ids the process before had given out.
    assert_true(member_put_kept(&bed->b, 10) > late_id + 1000);
}

static void opening_says_how_much_it_has_read(void **state)
{
    struct restore_progress progress;

    (void)state;
    member_begin(&bed->a);
    (void)member_put_kept(&bed->a, 1000);
    bed->b.script = shared_kill_first_at_once;
    member_begin(&bed->b);
    journal_progress(bed->b.journal, &progress);
    assert_true(progress.read > 1000);
}

static void takeover_comes_when_the_lease_has_lapsed_and_no_sooner(void **state)
{
    nsec_t began_at = shared_now();

    (void)state;
    member_begin(&bed->a);
    bed->b.script = shared_kill_first_at_once;
    member_begin(&bed->b);
    assert_in_range(shared_now() - began_at, SEC(5), SEC(6));
    assert_int_equal(bed->db->lease.epoch, 2);
}

static void lease_that_was_given_up_is_taken_at_once(void **state)
{
    nsec_t began_at = shared_now();
    uint64_t id;

    (void)state;
    member_begin(&bed->a);
    id = member_put_kept(&bed->a, 10);
    member_close(&bed->a);
    member_begin(&bed->b);
    assert_in_range(shared_now() - began_at, 0, MSEC(500));
    assert_true(member_has(&bed->b, id));
}

// Clients that wait for it are dropped, repeatedly, but get no answer that it is done.
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
    member_begin(&bed->a);
    id = member_put_kept(&bed->a, 10);
    bed->a.rows->cut = true;
    expect_end_that_waits(&bed->a, id);
    bed->a.rows->cut = false;
    member_wait(&bed->a);
    bed->b.script = shared_kill_first_at_once;
    member_begin(&bed->b);
    assert_false(member_has(&bed->b, id));
}

static void job_does_not_end_without_a_commit_while_the_database_refuses_rows(void **state)
{
    uint64_t id;

    (void)state;
    member_begin(&bed->a);
    id = member_put_kept(&bed->a, 10);
    bed->a.rows->unaddable = true;
    expect_end_that_waits(&bed->a, id);
    bed->b.script = shared_kill_first_at_once;
    member_begin(&bed->b);
    assert_true(member_has(&bed->b, id));
}

static void commit_in_doubt_is_settled(enum fake_fate fate)
{
    uint64_t id;

    member_begin(&bed->a);
    fake_rows_set_fate(bed->a.rows, fate, 1);
    id = member_put(&bed->a, "q", 10);
    member_turns(&bed->a);
    assert_false(member_acknowledged(&bed->a));
    member_pass(&bed->a, SEC(1));
    assert_true(member_acknowledged(&bed->a));
    bed->b.script = shared_kill_first_at_once;
    member_begin(&bed->b);
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
    member_begin(&bed->a);
    (void)member_put_kept(&bed->a, 10);
    shared_pass(bed, SEC(6));
    member_begin(&bed->b);
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
    member_begin(&bed->a);
    assert_true(member_may_answer(&bed->a));
    shared_pass(bed, MSEC(4400));
    assert_true(member_may_answer(&bed->a));
    shared_pass(bed, MSEC(200));
    assert_false(member_may_answer(&bed->a));
    assert_true(bed->db->expires_at > bed->db->now);
    // No other process has taken it: it is valid again.
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
    member_begin(&bed->a);
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
    (void)member_put_kept(&bed->a, 10);
    assert_int_equal(bed->db->lease.epoch, 1);
}

static void job_of_several_rows_comes_back_whole(void **state)
{
    const size_t len = ROWS_BYTES_MAX * 2 + 100;
    struct slice body;
    uint64_t id;

    (void)state;
    member_begin(&bed->a);
    id = member_put_kept(&bed->a, len);
    assert_true(bed->db->count >= 3);
    bed->b.script = shared_kill_first_at_once;
    member_begin(&bed->b);
    body = job_body(broker_find(bed->b.broker, id));
    assert_int_equal(body.len, len);
    for (size_t i = 0; i < len; i++) {
        assert_true(body.ptr[i] == 'b');
    }
}

static void no_more_units_are_there_than_may_be(void **state)
{
    (void)state;
    member_begin(&bed->a);
    for (int i = 0; i < 400; i++) {
        (void)member_put_kept(&bed->a, 20000);
    }
    member_churn(&bed->a, 40);
    assert_in_range(bed->db->most_units, 2, ROWS_UNITS_MAX);
    bed->b.script = shared_kill_first_at_once;
    member_begin(&bed->b);
    assert_int_equal(member_count(&bed->b), 400);
}

static void fail_to_take(struct member *self)
{
    if (self->step == 1) {
        member_kill(&self->bed->a);
        fake_rows_set_fate(self->rows, FATE_AWAY, 10);
    }
}

static void a_process_that_cannot_take_the_lease_pauses_between_tries(void **state)
{
    nsec_t began_at = shared_now();

    (void)state;
    member_begin(&bed->a);
    bed->b.script = fail_to_take;
    member_begin(&bed->b);
    assert_in_range(shared_now() - began_at, SEC(6), SEC(12));
    assert_int_equal(bed->b.rows->calls > 10, 1);
}

// If the database does not answer, each try takes as long as the lease lasts.
static void closing_does_not_wait_for_a_database_that_has_been_away(void **state)
{
    unsigned calls;

    (void)state;
    member_begin(&bed->a);
    bed->a.rows->cut = true;
    (void)member_put(&bed->a, "q", 10);
    member_turns(&bed->a);
    shared_pass(bed, SEC(5));
    calls = bed->db->calls;
    member_close(&bed->a);
    assert_int_equal(bed->db->calls, calls);
}

static void closing_writes_pending_records(void **state)
{
    uint64_t id;

    (void)state;
    member_begin(&bed->a);
    fake_rows_set_fate(bed->a.rows, FATE_UNDONE, 2);
    id = member_put(&bed->a, "q", 10);
    member_close(&bed->a);
    member_begin(&bed->b);
    assert_true(member_has(&bed->b, id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_standby_has_all_acknowledged_jobs),
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
        STORY(a_process_that_cannot_take_the_lease_pauses_between_tries),
        STORY(closing_does_not_wait_for_a_database_that_has_been_away),
        STORY(closing_writes_pending_records),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
