/* SPDX-License-Identifier: MIT */
// Until when an owner of a journal in a database answers: as long as it is certain to have the
// lease.
#include "tests/journal/pg/shared_bed.h"

#define FENCE_FOR (TTL_FOR - TTL_FOR / 10)
#define ANSWERS_AFTER MSEC(500)

static struct shared_bed *bed;
static nsec_t asked_at;
static bool answered;

static int setup(void **state)
{
    (void)state;
    bed = shared_bed_new();
    asked_at = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    shared_bed_free(bed);
    return 0;
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static nsec_t fence_of(const struct member *member)
{
    return fence_until(journal_pg_fence(member->storage));
}

// The database is slow: the renewal moves the fence from the moment at which it was sent.
static void let_time_pass(void *context)
{
    const struct member *self = context;

    assert_true(asked_at == 0 || fence_of(self) <= asked_at + FENCE_FOR);
    asked_at = shared_now();
    shared_pass(self->bed, ANSWERS_AFTER);
}

static void be_slow(struct member *self)
{
    self->rows->changes = let_time_pass;
}

// Another counts from when the database has done it, which may be soon after that.
static void fence_counts_from_before_the_database_was_asked(void **state)
{
    (void)state;
    bed->a.made = be_slow;
    member_begin(&bed->a);
    assert_int_equal(fence_of(&bed->a), asked_at + FENCE_FOR);
    (void)member_put_kept(&bed->a, 10);
    assert_int_equal(fence_of(&bed->a), asked_at + FENCE_FOR);
    shared_pass(bed, SEC(1));
    member_turns(&bed->a);
    assert_int_equal(fence_of(&bed->a), asked_at + FENCE_FOR);
}

static void fence_is_not_extended_by_a_commit_in_doubt(void **state)
{
    nsec_t before;

    (void)state;
    member_begin(&bed->a);
    (void)member_put_kept(&bed->a, 10);
    before = fence_of(&bed->a);
    shared_pass(bed, MSEC(500));
    fake_rows_set_fate(bed->a.rows, FATE_DONE, 1);
    (void)member_put(&bed->a, "q", 10);
    member_turns(&bed->a);
    assert_false(member_acknowledged(&bed->a));
    assert_int_equal(fence_of(&bed->a), before);
}

// The database's clock was set forward, or it has failed over to a server whose clock is ahead.
static void owner_whose_lease_was_taken_early_stops_answering_within_a_second(void **state)
{
    uint64_t seq;

    (void)state;
    member_begin(&bed->a);
    (void)member_put_kept(&bed->a, 10);
    bed->db->now += TTL_FOR;
    member_begin(&bed->b);
    seq = bed->db->lease.seq;
    assert_true(fence_of(&bed->a) > shared_now() + SEC(2));
    member_pass(&bed->a, SEC(1));
    assert_true(journal_is_lost(bed->a.journal));
    assert_false(member_may_answer(&bed->a));
    assert_int_equal(bed->db->lease.seq, seq);
}

static void note_whether_it_answers(void *context)
{
    answered = member_may_answer(context);
}

static void an_owner_stops_answering_before_it_releases_the_lease(void **state)
{
    (void)state;
    member_begin(&bed->a);
    bed->a.rows->changes = note_whether_it_answers;
    (void)member_put_kept(&bed->a, 10);
    assert_true(answered);
    member_close(&bed->a);
    assert_true(bed->db->lease.released);
    assert_false(answered);
}

static void owner_that_can_add_no_rows_stays_the_owner(void **state)
{
    (void)state;
    member_begin(&bed->a);
    bed->a.rows->unaddable = true;
    (void)member_put(&bed->a, "q", 10);
    for (int i = 0; i < 20; i++) {
        member_pass(&bed->a, SEC(1));
        assert_true(member_may_answer(&bed->a));
    }
    assert_true(bed->db->expires_at > bed->db->now);
    assert_false(member_acknowledged(&bed->a));
}

static void followers_are_woken_ten_times_a_second_at_most(void **state)
{
    nsec_t began_at;
    unsigned before;

    (void)state;
    member_begin(&bed->a);
    member_pass(&bed->a, SEC(1));
    began_at = shared_now();
    before = bed->a.rows->tellings;
    while (shared_now() < began_at + SEC(1)) {
        (void)member_put_kept(&bed->a, 10);
        member_pass(&bed->a, MSEC(10));
    }
    assert_in_range(bed->a.rows->tellings - before, 9, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(fence_counts_from_before_the_database_was_asked),
        STORY(fence_is_not_extended_by_a_commit_in_doubt),
        STORY(owner_whose_lease_was_taken_early_stops_answering_within_a_second),
        STORY(an_owner_stops_answering_before_it_releases_the_lease),
        STORY(owner_that_can_add_no_rows_stays_the_owner),
        STORY(followers_are_woken_ten_times_a_second_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
