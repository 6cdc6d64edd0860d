/* SPDX-License-Identifier: MIT */
// A process that comes to own a journal in a database, with failures at that moment.
#include "core/base/log.h"
#include "journal/journal_private.h"
#include "tests/journal/pg/shared_bed.h"

#include <string.h>

// Of calls that change something: taking the lease is the first.
enum { FIRST_COMMIT = 2 };
enum { MANY = 1000 };

static struct shared_bed *bed;
static unsigned aways, backs;

static void count_events(void *context, enum log_level level, const char *event,
                         const struct log_field *fields, size_t count)
{
    (void)context;
    (void)level;
    (void)fields;
    (void)count;
    aways += strcmp(event, "database_away") == 0;
    backs += strcmp(event, "database_back") == 0;
}

static int setup(void **state)
{
    (void)state;
    bed = shared_bed_new();
    aways = 0;
    backs = 0;
    log_set_sink(count_events, NULL, LOG_LEVEL_INFO);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    log_set_sink(NULL, NULL, LOG_LEVEL_INFO);
    shared_bed_free(bed);
    return 0;
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static uint64_t put(struct member *member)
{
    member_begin(member);
    return member_put_kept(member, 10);
}

static void fail_from_the_first_commit_on(struct member *self, enum fake_fate fate)
{
    self->rows->fate = fate;
    self->rows->fate_at = FIRST_COMMIT;
    self->rows->fate_until = MANY;
}

static void lose_it(struct member *self)
{
    fail_from_the_first_commit_on(self, FATE_LOST);
}

static void write_nothing(struct member *self)
{
    fail_from_the_first_commit_on(self, FATE_UNDONE);
}

static void be_refused(struct member *self)
{
    fail_from_the_first_commit_on(self, FATE_REFUSED);
}

static void a_process_that_loses_the_lease_at_once_may_follow(void **state)
{
    (void)state;
    bed->a.made = lose_it;
    assert_false(member_open(&bed->a));
    assert_true(bed->a.lost);
}

static void a_process_that_cannot_write_at_once_may_follow_and_own_later(void **state)
{
    (void)state;
    bed->a.made = write_nothing;
    assert_false(member_open(&bed->a));
    assert_true(bed->a.lost);
    bed->a.made = NULL;
    (void)put(&bed->a);
}

static void a_refusal_at_once_is_not_tried_again(void **state)
{
    (void)state;
    bed->a.made = be_refused;
    assert_false(member_open(&bed->a));
    assert_false(bed->a.lost);
}

static void be_refused_for_a_while(struct member *self)
{
    fake_rows_set_fate(self->rows, FATE_REFUSED, 10);
}

static void log_says_once_that_the_lease_cannot_be_taken(void **state)
{
    (void)state;
    bed->a.made = be_refused_for_a_while;
    (void)put(&bed->a);
    assert_true(bed->a.rows->calls > 10);
    assert_int_equal(aways, 1);
    assert_int_equal(backs, 1);
}

static void be_kept_from_it_once(struct member *self)
{
    fake_rows_set_fate(self->rows, FATE_AWAY, 1);
}

// The other process has the lease when this one fails to take it, and gives it back after a while.
static void have_other_take_it(struct member *self)
{
    switch (self->step) {
    case 1:
        (void)put(&self->bed->b);
        return;
    case 30:
        assert_int_equal(backs, 1);
        member_close(&self->bed->b);
        return;
    default:
        if (self->bed->b.journal) {
            member_turns(&self->bed->b);
        }
    }
}

static void a_process_that_was_too_late_reports_that_the_database_is_back(void **state)
{
    (void)state;
    bed->a.made = be_kept_from_it_once;
    bed->a.script = have_other_take_it;
    (void)put(&bed->a);
    assert_int_equal(aways, 1);
    assert_true(bed->a.step >= 30);
}

static void read_nothing(struct member *self)
{
    self->rows->unreadable = true;
}

static void a_process_without_the_right_to_read_ends_with_the_reason(void **state)
{
    (void)state;
    (void)put(&bed->b);
    bed->a.made = read_nothing;
    assert_false(member_open(&bed->a));
    assert_string_equal(bed->a.why.text, "as the test wished");
}

static void lose_the_right_to_read_for_a_while(struct member *self)
{
    struct member *b = &self->bed->b;

    self->rows->unreadable = self->step > 2 && self->step < 30;
    if (b->journal) {
        (void)member_put(b, "q", 10);
        member_wait(b);
    }
    if (self->step == 40) {
        member_close(b);
    }
}

static void a_process_that_loses_the_right_to_read_logs_it_once_and_goes_on(void **state)
{
    (void)state;
    (void)put(&bed->b);
    bed->a.script = lose_the_right_to_read_for_a_while;
    (void)put(&bed->a);
    assert_int_equal(aways, 1);
    assert_int_equal(backs, 1);
    assert_true(member_count(&bed->a) > 30);
}

// It is about to commit the first records of an owner.
static void be_stopped(void *context)
{
    struct member *self = context;

    if (self->rows->calls == FIRST_COMMIT - 1) {
        journal_stop_opening(self->journal);
        self->rows->rows.ops->stop(&self->rows->rows);
    }
}

static void do_be_stopped(struct member *self)
{
    self->rows->changes = be_stopped;
}

static void process_that_is_stopped_as_it_takes_over_gives_the_lease_up(void **state)
{
    (void)state;
    (void)put(&bed->a);
    member_close(&bed->a);
    bed->b.made = do_be_stopped;
    assert_false(member_open(&bed->b));
    assert_int_equal(bed->db->lease.epoch, 2);
    assert_true(bed->db->lease.released);
    (void)put(&bed->a);
    assert_int_equal(bed->a.step, 0);
}

// No connection has noticed yet that it is open.
static void process_that_is_stopped_as_it_has_taken_over_gives_the_lease_up(void **state)
{
    (void)state;
    member_begin(&bed->a);
    journal_stop_opening(bed->a.journal);
    bed->a.rows->rows.ops->stop(&bed->a.rows->rows);
    member_close(&bed->a);
    assert_true(bed->db->lease.released);
}

static void do_without_care(struct member *self)
{
    self->rows->careless = true;
}

static void have_care_later(struct member *self)
{
    self->rows->careless = self->step < 10;
}

static void no_process_owns_it_before_the_quorum_is_confirmed(void **state)
{
    (void)state;
    bed->demand = PG_DEMAND_QUORUM;
    bed->a.made = do_without_care;
    bed->a.script = have_care_later;
    (void)put(&bed->a);
    assert_true(bed->a.step >= 10);
}

static void do_unreplicated(struct member *self)
{
    self->rows->unreplicated = true;
}

static void owner_reports_its_epoch_and_the_durability_of_commits(void **state)
{
    struct store_info info;

    (void)state;
    bed->a.made = do_unreplicated;
    (void)put(&bed->a);
    journal_recorder.info(bed->a.journal, &info);
    assert_int_equal(info.epoch, 1);
    assert_true(info.durable);
    assert_false(info.replicated);
    bed->a.rows->unreplicated = false;
    member_pass(&bed->a, SEC(70));
    journal_recorder.info(bed->a.journal, &info);
    assert_true(info.replicated);
    member_close(&bed->a);
    (void)put(&bed->b);
    journal_recorder.info(bed->b.journal, &info);
    assert_int_equal(info.epoch, 2);
}

static void read_later(struct member *self)
{
    self->rows->unreadable = self->step < 10;
}

static void a_process_that_served_before_waits_after_a_refusal(void **state)
{
    (void)state;
    (void)put(&bed->a);
    member_close(&bed->a);
    bed->b.made = read_nothing;
    assert_false(member_open(&bed->b));
    bed->again = true;
    bed->b.script = read_later;
    member_begin(&bed->b);
    assert_true(bed->b.step >= 10);
}

static void replicate_later(struct member *self)
{
    self->rows->unreplicated = self->step < 10;
}

static void a_process_that_served_before_waits_for_the_quorum(void **state)
{
    (void)state;
    bed->demand = PG_DEMAND_QUORUM;
    bed->a.made = do_unreplicated;
    assert_false(member_open(&bed->a));
    bed->again = true;
    bed->a.script = replicate_later;
    member_begin(&bed->a);
    assert_true(bed->a.step >= 10);
    assert_int_equal(aways, 1);
    assert_int_equal(backs, 1);
}

// It had one when this process began to follow.
static void lose_the_quorum_with_the_owner(struct member *self)
{
    self->rows->unreplicated = self->step > 1 && self->step < 200;
    shared_kill_first_at_once(self);
    assert_true(self->step >= 200 || bed->db->lease.epoch == 1);
}

static void no_process_takes_over_without_the_quorum(void **state)
{
    (void)state;
    bed->demand = PG_DEMAND_QUORUM;
    (void)put(&bed->a);
    bed->b.script = lose_the_quorum_with_the_owner;
    member_begin(&bed->b);
    assert_true(bed->b.step >= 200);
    assert_int_equal(aways, 1);
    assert_int_equal(backs, 1);
}

// Handles of jobs contain that name, and outlive the process and its machine.
static void journal_is_named_after_its_shard_not_its_owner(void **state)
{
    (void)state;
    (void)put(&bed->a);
    assert_string_equal(journal_host(bed->a.journal), "main");
    member_close(&bed->a);
    (void)put(&bed->b);
    assert_string_equal(journal_host(bed->b.journal), "main");
}

static void owner_that_can_add_no_rows_says_so_once(void **state)
{
    (void)state;
    (void)put(&bed->a);
    bed->a.rows->unaddable = true;
    (void)member_put(&bed->a, "q", 10);
    member_pass(&bed->a, SEC(3));
    assert_int_equal(aways, 1);
    assert_int_equal(backs, 0);
    bed->a.rows->unaddable = false;
    member_wait(&bed->a);
    assert_int_equal(aways, 1);
    assert_int_equal(backs, 1);
}

static void close_other_at_once(struct member *self)
{
    if (self->step == 1) {
        member_close(&self->bed->b);
    }
}

static void a_process_that_hands_over_leaves_others_time_to_take_it(void **state)
{
    nsec_t began_at = shared_now();

    (void)state;
    (void)put(&bed->b);
    member_close(&bed->b);
    bed->yields = true;
    (void)put(&bed->a);
    assert_in_range(shared_now() - began_at, TTL_FOR, TTL_FOR + SEC(1));
}

static void a_process_that_handed_over_takes_it_at_once_after_the_next_owner(void **state)
{
    nsec_t began_at = shared_now();

    (void)state;
    (void)put(&bed->b);
    bed->yields = true;
    bed->a.script = close_other_at_once;
    (void)put(&bed->a);
    assert_true(shared_now() - began_at < SEC(1));
}

// The ids of lost rows are unknown.
static void ids_of_lost_records_are_not_given_out_again(void **state)
{
    struct rows_lease lease;
    uint64_t id;

    (void)state;
    id = put(&bed->a);
    lease = bed->db->lease;
    fake_db_lose_rows(bed->db, bed->db->count);
    bed->db->lease = lease;
    member_kill(&bed->a);
    shared_pass(bed, 2 * TTL_FOR);
    bed->repair = true;
    assert_true(put(&bed->b) > id + IDS_BLOCK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_process_that_loses_the_lease_at_once_may_follow),
        STORY(a_process_that_cannot_write_at_once_may_follow_and_own_later),
        STORY(a_refusal_at_once_is_not_tried_again),
        STORY(log_says_once_that_the_lease_cannot_be_taken),
        STORY(a_process_that_was_too_late_reports_that_the_database_is_back),
        STORY(a_process_without_the_right_to_read_ends_with_the_reason),
        STORY(a_process_that_loses_the_right_to_read_logs_it_once_and_goes_on),
        STORY(no_process_owns_it_before_the_quorum_is_confirmed),
        STORY(process_that_is_stopped_as_it_takes_over_gives_the_lease_up),
        STORY(a_process_that_served_before_waits_after_a_refusal),
        STORY(a_process_that_served_before_waits_for_the_quorum),
        STORY(no_process_takes_over_without_the_quorum),
        STORY(process_that_is_stopped_as_it_has_taken_over_gives_the_lease_up),
        STORY(owner_reports_its_epoch_and_the_durability_of_commits),
        STORY(journal_is_named_after_its_shard_not_its_owner),
        STORY(owner_that_can_add_no_rows_says_so_once),
        STORY(a_process_that_hands_over_leaves_others_time_to_take_it),
        STORY(a_process_that_handed_over_takes_it_at_once_after_the_next_owner),
        STORY(ids_of_lost_records_are_not_given_out_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
