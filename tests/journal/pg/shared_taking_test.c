/* SPDX-License-Identifier: MIT */
// Which process comes to own a journal in a database: taking the lease, whatever happens at that
// moment.
#include "tests/journal/pg/shared_bed.h"

#include <string.h>

enum { MANY_STEPS = 200 };

static struct shared_bed *bed;
static uint64_t late_id;

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

//
// In doubt
//

static void take_without_an_answer(struct member *self)
{
    fake_rows_set_fate(self->rows, FATE_DONE, 1);
}

static void take_in_vain(struct member *self)
{
    fake_rows_set_fate(self->rows, FATE_UNDONE, 1);
}

static void lease_whose_taking_was_not_answered_is_owned_at_once(void **state)
{
    (void)state;
    bed->a.made = take_without_an_answer;
    member_begin(&bed->a);
    assert_int_equal(bed->a.step, 0);
    assert_int_equal(bed->db->lease.epoch, 1);
}

// The holder's name is its own.
static void lease_that_it_had_before_is_not_taken_for_one_that_it_has_taken(void **state)
{
    (void)state;
    member_begin(&bed->a);
    member_kill(&bed->a);
    shared_pass(bed, 2 * TTL_FOR);
    bed->a.made = take_in_vain;
    member_begin(&bed->a);
    assert_int_equal(bed->db->lease.epoch, 2);
}

static void have_other_take_it(void *context)
{
    const struct member *self = context;

    self->rows->changes = NULL;
    member_begin(&bed->b);
}

static void take_in_vain_while_another_does(struct member *self)
{
    take_in_vain(self);
    self->rows->changes = have_other_take_it;
}

static void expect_to_follow(struct member *self)
{
    assert_false(member_may_answer(self));
    if (self->step == 20) {
        member_close(&bed->b);
    } else if (bed->b.journal) {
        (void)member_put_kept(&bed->b, 10);
    }
}

static void lease_that_another_took_in_that_moment_is_the_others(void **state)
{
    (void)state;
    bed->a.made = take_in_vain_while_another_does;
    bed->a.script = expect_to_follow;
    member_begin(&bed->a);
    assert_int_equal(bed->db->lease.epoch, 2);
    assert_int_equal(member_count(&bed->a), 19);
}

//
// The last moment
//

static void add_and_leave(void *context)
{
    const struct member *self = context;

    self->rows->changes = NULL;
    late_id = member_put_kept(&bed->a, 10);
    member_close(&bed->a);
}

static void have_first_add_and_leave(struct member *self)
{
    self->rows->changes = add_and_leave;
}

// It has read all that there was, and has seen that the lease has lapsed.
static void rows_added_until_the_lease_is_taken_are_read(void **state)
{
    (void)state;
    member_begin(&bed->a);
    shared_pass(bed, TTL_FOR);
    bed->b.made = have_first_add_and_leave;
    member_begin(&bed->b);
    assert_int_equal(bed->db->lease.epoch, 2);
    assert_true(member_has(&bed->b, late_id));
}

static void wait_in_full(void *context, nsec_t for_at_most)
{
    (void)context;
    shared_pass(bed, for_at_most);
}

static void ignore_wakeups(struct member *self)
{
    self->rows->waits = wait_in_full;
}

static void a_standby_waits_no_longer_than_the_lease_lasts(void **state)
{
    nsec_t expires_at;

    (void)state;
    member_begin(&bed->a);
    member_kill(&bed->a);
    shared_pass(bed, MSEC(700));
    expires_at = bed->db->expires_at;
    bed->b.made = ignore_wakeups;
    member_begin(&bed->b);
    assert_int_equal(bed->db->expires_at, expires_at + TTL_FOR);
}

//
// Processes that do not take it
//

static void stop(struct member *self)
{
    journal_stop_opening(self->journal);
    self->rows->rows.ops->stop(&self->rows->rows);
}

static void stop_after_many_steps(struct member *self)
{
    if (self->step == MANY_STEPS) {
        stop(self);
    }
}

static void a_process_that_only_follows_never_takes_it(void **state)
{
    (void)state;
    member_begin(&bed->a);
    member_close(&bed->a);
    bed->b.only_follows = true;
    bed->b.script = stop_after_many_steps;
    assert_false(member_open(&bed->b));
    assert_int_equal(bed->b.step, MANY_STEPS);
    assert_int_equal(bed->db->lease.epoch, 1);
}

static void stop_soon(struct member *self)
{
    if (self->step == 3) {
        stop(self);
    } else {
        member_turns(&bed->a);
    }
}

static void a_standby_that_stops_does_not_release_the_lease(void **state)
{
    (void)state;
    member_begin(&bed->a);
    bed->b.script = stop_soon;
    assert_false(member_open(&bed->b));
    assert_false(bed->db->lease.released);
    (void)member_put_kept(&bed->a, 10);
}

static void have_other_own_it_for_a_moment(struct member *self)
{
    if (self->step == 1) {
        bed->yields = false;
        member_begin(&bed->b);
    } else if (bed->b.journal) {
        member_close(&bed->b);
    }
}

static void a_process_yields_until_another_has_had_it(void **state)
{
    nsec_t began_at = shared_now();

    (void)state;
    member_begin(&bed->b);
    member_close(&bed->b);
    bed->yields = true;
    bed->a.script = have_other_own_it_for_a_moment;
    member_begin(&bed->a);
    assert_int_equal(bed->db->lease.epoch, 3);
    assert_true(shared_now() - began_at < SEC(1));
}

//
// Refusals at the start
//

static void expect_refused(void (*made)(struct member *self), const char *text)
{
    bed->a.made = made;
    assert_false(member_open(&bed->a));
    assert_false(bed->a.lost);
    if (!strstr(bed->a.why.text, text)) {
        fail_msg("said: %s", bed->a.why.text);
    }
    assert_int_equal(bed->db->lease.epoch, 0);
}

static void be_unreplicated(struct member *self)
{
    self->rows->unreplicated = true;
}

static void be_unsynced(struct member *self)
{
    self->rows->unsynced = true;
}

static void see_no_lease(struct member *self)
{
    self->rows->unlookable = true;
}

static void quorum_that_is_demanded_and_not_waited_for_is_a_reason_not_to_start(void **state)
{
    (void)state;
    bed->demand = PG_DEMAND_QUORUM;
    expect_refused(be_unreplicated, "require_quorum");
    expect_refused(be_unsynced, "require_quorum");
}

static void a_process_that_may_not_read_the_lease_ends_with_the_reason(void **state)
{
    (void)state;
    expect_refused(see_no_lease, "as the test wished");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(lease_whose_taking_was_not_answered_is_owned_at_once),
        STORY(lease_that_it_had_before_is_not_taken_for_one_that_it_has_taken),
        STORY(lease_that_another_took_in_that_moment_is_the_others),
        STORY(rows_added_until_the_lease_is_taken_are_read),
        STORY(a_standby_waits_no_longer_than_the_lease_lasts),
        STORY(a_process_that_only_follows_never_takes_it),
        STORY(a_standby_that_stops_does_not_release_the_lease),
        STORY(a_process_yields_until_another_has_had_it),
        STORY(quorum_that_is_demanded_and_not_waited_for_is_a_reason_not_to_start),
        STORY(a_process_that_may_not_read_the_lease_ends_with_the_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
