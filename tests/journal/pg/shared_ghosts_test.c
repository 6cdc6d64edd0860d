/* SPDX-License-Identifier: MIT */
// A process follows the owner of a journal in a database for a long time: it has the same content
// as the owner.
#include "core/broker.h"
#include "tests/journal/pg/shared_bed.h"

#include <stdio.h>

#define HOUR SEC(3600)

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

static uint64_t first_id, last_id, oldest_then;
static unsigned batches;

static nsec_t wall_in(nsec_t after_for)
{
    return broker_now(bed->a.broker).wall + after_for;
}

static uint64_t unit_of(const struct member *member, uint64_t id)
{
    const struct job *job = broker_find(member->broker, id);

    return job ? job_mark(job) : 0;
}

static uint64_t queues_of(const struct member *member)
{
    struct broker_info info;

    broker_info(member->broker, &info);
    return info.queues;
}

//
// State
//

static void tell_and_kill_first(struct member *self)
{
    struct ownership_snapshot shown;

    if (self->step < 20) {
        (void)member_put_kept(&bed->a, 10);
        return;
    }
    journal_pg_ownership(self->storage, &shown);
    assert_int_equal(shown.role, OWNERSHIP_STANDBY);
    assert_int_equal(shown.count, 1);
    assert_false(shown.members[0].owner);
    assert_int_equal(shown.members[0].epoch, 1);
    assert_in_range(shown.members[0].seq, bed->db->lease.seq - 12, bed->db->lease.seq);
    member_kill(&bed->a);
    self->script = NULL;
}

static void a_standby_reports_each_second_how_far_it_is(void **state)
{
    (void)state;
    member_begin(&bed->a);
    bed->b.script = tell_and_kill_first;
    member_begin(&bed->b);
}

//
// Ended jobs, pauses and memos
//

static void use_many_queues(struct member *a)
{
    char name[16];

    for (int i = 0; i < 50; i++) {
        (void)snprintf(name, sizeof name, "q%d", i);
        member_end(a, member_put(a, name, 10));
        member_turns(a);
    }
    member_wait(a);
}

static void have_queues_come_and_go(struct member *self)
{
    if (self->step == 1) {
        use_many_queues(&bed->a);
    } else if (self->step == 20) {
        assert_true(queues_of(self) <= 1);
        member_kill(&bed->a);
    } else if (bed->a.journal) {
        member_turns(&bed->a);
    }
}

static void a_standby_has_no_unused_queues(void **state)
{
    (void)state;
    member_begin(&bed->a);
    bed->b.script = have_queues_come_and_go;
    member_begin(&bed->b);
}

// Nothing is added meanwhile.
static void let_a_memo_end(struct member *self)
{
    if (self->step == 5) {
        assert_int_equal(member_memos(self), 2);
    } else if (self->step == 200) {
        assert_int_equal(member_memos(self), 1);
        member_kill(&bed->a);
    }
    if (bed->a.journal) {
        member_turns(&bed->a);
    }
}

static void a_standby_forgets_expired_objects(void **state)
{
    (void)state;
    member_begin(&bed->a);
    member_remember(&bed->a, "brief", wall_in(SEC(10)));
    member_remember(&bed->a, "long", wall_in(HOUR));
    member_wait(&bed->a);
    bed->b.script = let_a_memo_end;
    member_begin(&bed->b);
    assert_true(bed->b.step > 200);
}

//
// Units that are removed
//

// It has read each unit to its end before that is removed.
static void work_and_kill_first(struct member *self)
{
    const struct rows_lease *lease = &bed->db->lease;

    // One that is only still to be removed it knows to hold nothing.
    assert_in_range(journal_segments(self->journal), lease->unit - lease->oldest,
                    lease->unit - lease->oldest + 1);
    if (lease->oldest < 20) {
        bed->a.rows->unremovable = self->step % 30 < 15;
        member_end(&bed->a, member_put_kept(&bed->a, 8000));
    } else if (bed->a.journal) {
        member_kill(&bed->a);
    }
}

static void a_standby_has_no_removed_units(void **state)
{
    (void)state;
    member_begin(&bed->a);
    bed->b.script = work_and_kill_first;
    member_begin(&bed->b);
    assert_true(bed->db->lease.oldest >= 20);
}

// Some jobs of the unit have been copied to a younger one, and the rest stay.
static void be_cut_off_while_jobs_move(void *context)
{
    const struct member *a = context;

    // The copies are in this batch, or in an earlier one.
    batches += unit_of(a, first_id) > 1;
    a->rows->cut = batches > 1;
}

static void work_until_jobs_move(struct member *a)
{
    batches = 0;
    a->rows->changes = be_cut_off_while_jobs_move;
    while (!a->rows->cut) {
        member_end(a, member_put(a, "q", 60000));
        member_turns(a);
    }
    a->rows->changes = NULL;
}

// It has read that the first one has moved. Of the last one it does not hear any more.
static void end_last_and_remove_unit(struct member *a)
{
    a->rows->cut = false;
    member_end(a, last_id);
    member_wait(a);
    while (bed->db->lease.oldest == 1) {
        member_churn(a, 1);
    }
}

static void miss_the_end_of_one(struct member *self)
{
    if (self->step == 1) {
        work_until_jobs_move(&bed->a);
    } else if (self->step == 3) {
        assert_true(unit_of(self, first_id) > 1);
        assert_int_equal(unit_of(self, last_id), 1);
        self->rows->cut = true;
        end_last_and_remove_unit(&bed->a);
    } else if (self->step == 5) {
        self->rows->cut = false;
    } else if (self->step == 20) {
        member_kill(&bed->a);
    }
}

static void job_that_has_moved_stays_when_its_first_unit_is_removed(void **state)
{
    (void)state;
    bed->segment_size = 1 << 20;
    member_begin(&bed->a);
    first_id = member_put_kept(&bed->a, 20000);
    for (int i = 0; i < 45; i++) {
        last_id = member_put_kept(&bed->a, 20000);
    }
    bed->b.script = miss_the_end_of_one;
    member_begin(&bed->b);
    assert_true(member_has(&bed->b, first_id));
    assert_false(member_has(&bed->b, last_id));
    assert_int_equal(member_count(&bed->b), 45);
}

static void end_all_while_it_is_cut_off(struct member *self)
{
    struct member *a = &bed->a;

    if (self->step == 1) {
        assert_int_equal(member_pauses(self), 1);
        assert_int_equal(member_memos(self), 1);
        self->rows->cut = true;
        member_pause(a, "p", 0);
        member_forget(a, "m");
        member_churn(a, 6);
    } else if (self->step == 3) {
        self->rows->cut = false;
    } else if (self->step == 20) {
        assert_int_equal(member_pauses(self), 0);
        assert_int_equal(member_memos(self), 0);
        member_kill(a);
    } else if (a->journal) {
        member_turns(a);
    }
}

static void a_standby_that_was_cut_off_has_no_ended_pauses_or_memos(void **state)
{
    (void)state;
    member_begin(&bed->a);
    (void)member_put(&bed->a, "p", 10);
    member_pause(&bed->a, "p", HOUR);
    member_remember(&bed->a, "m", NSEC_NEVER);
    member_wait(&bed->a);
    bed->b.script = end_all_while_it_is_cut_off;
    member_begin(&bed->b);
}

static void remove_older_units(struct member *self)
{
    struct member *a = &bed->a;

    if (self->step == 1) {
        (void)member_put(a, "p", 10);
        member_pause(a, "p", HOUR);
        member_remember(a, "m", NSEC_NEVER);
        member_wait(a);
        oldest_then = bed->db->lease.oldest;
    } else if (self->step == 3) {
        a->rows->unremovable = false;
        member_churn(a, 1);
    } else if (self->step == 20) {
        member_kill(a);
    } else if (a->journal) {
        member_turns(a);
    }
}

static void pauses_and_memos_stay_when_older_units_are_removed(void **state)
{
    (void)state;
    member_begin(&bed->a);
    bed->a.rows->unremovable = true;
    for (int i = 0; i < 3; i++) {
        member_begin_next_unit(&bed->a);
    }
    bed->b.script = remove_older_units;
    member_begin(&bed->b);
    assert_true(bed->db->lease.oldest > oldest_then);
    assert_int_equal(member_pauses(&bed->b), 1);
    assert_int_equal(member_memos(&bed->b), 1);
}

static void be_unremovable(struct member *self)
{
    self->rows->unremovable = true;
}

static void use_space(struct member *member, unsigned jobs, size_t len)
{
    for (unsigned i = 0; i < jobs; i++) {
        member_end(member, member_put_kept(member, len));
    }
    member_wait(member);
}

// Units grow with the content; and a process that finds many units continues the youngest.
static void units_that_cannot_be_removed_are_no_more_than_may_be(void **state)
{
    (void)state;
    bed->a.made = be_unremovable;
    member_begin(&bed->a);
    use_space(&bed->a, 1000, 8000);
    assert_in_range(bed->db->most_units, 10, 40);
    for (int i = 0; i < 50; i++) {
        member_kill(&bed->a);
        shared_pass(bed, 2 * TTL_FOR);
        member_begin(&bed->a);
        (void)member_put_kept(&bed->a, 10);
    }
    use_space(&bed->a, 400, 60000);
    assert_in_range(bed->db->most_units, 50, ROWS_UNITS_MAX);
    assert_int_equal(member_count(&bed->a), 50);
}

//
// Ids
//

// Ids of jobs without a record.
static uint64_t give_ids(struct member *member, unsigned count)
{
    struct submission submission = {0};
    struct queue *queue;

    assert_int_equal(broker_queue_hold(member->broker, slice_of("f", 1), &queue), STATUS_OK);
    for (unsigned i = 0; i < count; i++) {
        const struct job_spec spec = {.queue = queue};

        assert_int_equal(broker_submit(member->broker, &spec, NULL, &submission), STATUS_OK);
        assert_int_equal(broker_cancel(member->broker, NULL, submission.id, true), STATUS_OK);
        if (i % 100 == 0) {
            member_wait(member);
        }
    }
    broker_queue_drop(member->broker, queue);
    return submission.id;
}

static void ids_are_not_given_twice_after_their_records_were_removed(void **state)
{
    uint64_t id;

    (void)state;
    member_begin(&bed->a);
    (void)give_ids(&bed->a, 60000);
    member_churn(&bed->a, 3);
    id = give_ids(&bed->a, 20000);
    member_kill(&bed->a);
    shared_pass(bed, 2 * TTL_FOR);
    member_begin(&bed->b);
    assert_true(member_put_kept(&bed->b, 10) > id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_standby_reports_each_second_how_far_it_is),
        STORY(a_standby_has_no_unused_queues),
        STORY(a_standby_forgets_expired_objects),
        STORY(a_standby_has_no_removed_units),
        STORY(job_that_has_moved_stays_when_its_first_unit_is_removed),
        STORY(a_standby_that_was_cut_off_has_no_ended_pauses_or_memos),
        STORY(pauses_and_memos_stay_when_older_units_are_removed),
        STORY(units_that_cannot_be_removed_are_no_more_than_may_be),
        STORY(ids_are_not_given_twice_after_their_records_were_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
