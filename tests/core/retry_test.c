/* SPDX-License-Identifier: MIT */
// How often a job is tried, and how long it waits in between, by the policy of its queue.
#include "tests/core/stage_restart.h"

static void a_policy_bounds_attempts_where_the_contract_does_not(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 2);
    PUT(s, .ttr_for = SEC(1), .on_fail = ON_FAIL_BURY);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    assert_int_equal(stage_state(s, 1), JOB_BURIED);
    assert_int_equal(stage_job(s, 1).attempts, 2);
    stage_expect_recorded(s, "submit 1; set 1; bury 1");
}

// The last attempt of its contract was spent before: the end of the process spends none.
static void the_end_of_the_process_spends_nothing_and_drops_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 9);
    PUT(s, .on_fail = ON_FAIL_DROP, .ttr_for = SEC(5));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(act_take(w), 1);
        assert_status(STATUS_OK, act_fail(w, 1, NULL));
    }
    POLICY(s, "*", .max_attempts = 1);
    assert_int_equal(act_take(w), 1);
    broker_retire(s->broker);
    act_close(w);
    stage_settle(s);
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(stage_job(s, 1).attempts, 2);
    w = stage_worker(s, "w", "q");
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(5));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    stage_expect_recorded(s, "submit 1; set 1; set 1");
}

static void a_job_that_was_not_delivered_has_lost_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct counts counts;

    POLICY(s, "*", .max_attempts = 2, .backoff = BACKOFF_FIXED, .backoff_min_for = SEC(60));
    PUT(s, .on_fail = ON_FAIL_DROP, .on_loss = ON_LOSS_BACK);
    PUT(s, .on_fail = ON_FAIL_DROP, .on_loss = ON_LOSS_BACK);
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    broker_undelivered(w->session, 2);
    broker_undelivered(w->session, 3);
    act_close(w);
    stage_settle(s);
    assert_int_equal(stage_state(s, 1), JOB_DELAYED);
    assert_int_equal(stage_state(s, 2), JOB_READY);
    assert_int_equal(stage_job(s, 2).attempts, 0);
    assert_int_equal(stage_job(s, 2).reserves, 0);
    broker_counts(s->broker, &counts);
    assert_int_equal(counts.retries, 1);
    PUT(s, .on_fail = ON_FAIL_DROP);
    w = stage_worker(s, "w", "q");
    assert_int_equal(act_take(w), 2);
    assert_int_equal(act_take(w), 3);
    broker_all_undelivered(w->session);
    act_close(w);
    stage_settle(s);
    act_drain(stage_worker(s, "w", "q"), "2 3");
    stage_expect_recorded(s, "submit 1; submit 2; set 1; submit 3; end 2; end 3");
}

// It is assigned the job while it waits, and leaves before it is told.
static void a_waiting_session_that_leaves_before_it_is_told_spends_no_attempt(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(w);
    PUT(s, .max_attempts = 1, .on_fail = ON_FAIL_DROP);
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    act_close(w);
    stage_expect(s, "");
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(stage_job(s, 1).attempts, 0);
    assert_int_equal(stage_job(s, 1).reserves, 0);
}

static void the_contract_comes_before_the_policy(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 2);
    PUT(s, .max_attempts = 1);
    assert_int_equal(act_take(w), 1);
    act_close(w);
    stage_settle(s);
    assert_int_equal(stage_state(s, 1), JOB_BURIED);
}

static void a_reported_failure_is_an_attempt_if_no_client_waits(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 3);
    PUT(s, .on_fail = ON_FAIL_DROP);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, "oops"));
    assert_int_equal(stage_job(s, 1).attempts, 2);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    stage_expect_recorded(s, "submit 1; set 1; set 1; end 1");
}

static void a_reported_failure_is_final_if_attempts_are_unlimited(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .backoff = BACKOFF_FIXED, .backoff_min_for = SEC(1));
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    assert_int_equal(stage_state(s, 1), JOB_BURIED);
}

static void watches_are_told_of_losses_and_then_of_the_failure(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 3);
    SUBMIT(c, .queue = "q", .fleeting = true, .ttr_for = SEC(1));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    assert_int_equal(act_take(w), 1);
    stage_expect(s, "c retried 1");
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    stage_expect(s, "c failed 1");
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void a_job_that_others_have_joined_is_retried_once_they_have_gone(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *d = stage_open(s, "d");
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 5);
    PUT(s, .key = "k", .ttr_for = SEC(1));
    assert_true(SUBMIT(c, .key = "k", .fleeting = true).joined);
    assert_true(SUBMIT(d, .key = "k", .fleeting = true).joined);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    assert_int_equal(act_take(w), 1);
    stage_expect(s, "c retried 1; d retried 1");
    act_close(c);
    act_close(d);
    stage_settle(s);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_true(SUBMIT(stage_open(s, "e"), .key = "k", .fleeting = true).joined);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    stage_expect(s, "e failed 1");
    assert_int_equal(stage_state(s, 1), JOB_BURIED);
}

static void an_abandoned_job_is_not_tried_again(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 5, .on_exhausted = ON_EXHAUSTED_BURY);
    SUBMIT(c, .queue = "q", .fleeting = true);
    assert_int_equal(act_take(w), 1);
    act_close(c);
    stage_settle(s);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void a_limit_that_fails_a_job_is_an_attempt_if_no_client_waits(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    act_subscribe_on(w, "q", SEC(1), ON_LIMIT_FAIL);
    POLICY(s, "*", .max_attempts = 2);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    assert_int_equal(stage_state(s, 1), JOB_BURIED);
}

static void exhausted_job_is_buried_or_dropped_by_the_policy(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 1, .on_exhausted = ON_EXHAUSTED_BURY);
    PUT(s, .on_fail = ON_FAIL_DROP);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    assert_int_equal(stage_state(s, 1), JOB_BURIED);
    POLICY(s, "*", .max_attempts = 1, .on_exhausted = ON_EXHAUSTED_DROP);
    PUT(s, .on_fail = ON_FAIL_BURY);
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_fail(w, 2, NULL));
    assert_int_equal(stage_state(s, 2), JOB_GONE);
}

//
// Releases
//

static void a_release_without_a_delay_is_an_attempt_where_they_count(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 2, .count_releases = true);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, SEC(3)));
    assert_int_equal(stage_job(s, 1).attempts, 0);
    stage_advance(s, SEC(3));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    assert_int_equal(stage_job(s, 1).attempts, 1);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, stage_act(s, NULL, 1, ACT(.kind = ACT_RELEASE)));
    assert_int_equal(stage_job(s, 1).attempts, 1);
    stage_expect_recorded(s, "submit 1; release 1; release 1; release 1");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 9, 0));
    assert_int_equal(stage_state(s, 1), JOB_BURIED);
    assert_int_equal(stage_job(s, 1).pri, 9);
    assert_int_equal(stage_job(s, 1).releases, 4);
    stage_expect_recorded(s, "bury 1");
}

static void a_release_that_counts_waits_for_the_backoff(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 9, .count_releases = true, .backoff = BACKOFF_FIXED,
           .backoff_min_for = SEC(4));
    SUBMIT(c, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(4));
    stage_expect(s, "c retried 1");
}

static void releases_spend_nothing_where_they_do_not_count(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 1, .backoff = BACKOFF_FIXED, .backoff_min_for = SEC(4));
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(stage_job(s, 1).attempts, 0);
}

//
// Backoff
//

// Has a worker leave with the job; the backoff of the job.
static nsec_t wait_after_a_loss(struct stage *s)
{
    struct actor *w = stage_worker(s, "v", "q");
    nsec_t wait_for;

    assert_int_equal(act_take(w), 1);
    act_close(w);
    stage_settle(s);
    wait_for = stage_job(s, 1).remaining_for;
    stage_expect_jobs(s, "q", wait_for == 0, wait_for > 0, 0, 0);
    if (wait_for > 0) {
        stage_advance(s, wait_for);
    }
    assert_int_equal(stage_state(s, 1), JOB_READY);
    return wait_for;
}

static void a_fixed_backoff_is_the_same_after_each_attempt(void **state)
{
    struct stage *s = *state;

    POLICY(s, "*", .backoff = BACKOFF_FIXED, .backoff_min_for = SEC(3));
    PUT(s, .queue = "q");
    assert_int_equal(wait_after_a_loss(s), SEC(3));
    assert_int_equal(wait_after_a_loss(s), SEC(3));
    assert_int_equal(stage_job(s, 1).delay_for, SEC(3));
    assert_int_equal(stage_job(s, 1).attempts, 2);
}

static void an_exponential_backoff_doubles_up_to_the_longest(void **state)
{
    static const nsec_t waits[] = {MSEC(500), SEC(1), SEC(2), SEC(4), SEC(5), SEC(5)};
    struct stage *s = *state;

    POLICY(s, "*", .backoff = BACKOFF_EXPONENTIAL, .backoff_min_for = MSEC(500),
           .backoff_max_for = SEC(5));
    PUT(s, .queue = "q");
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        assert_int_equal(wait_after_a_loss(s), waits[i]);
    }
}

static void doubling_never_overflows(void **state)
{
    const nsec_t most_for = nsec_from_seconds(UINT32_MAX);
    struct stage *s = *state;

    POLICY(s, "*", .backoff = BACKOFF_EXPONENTIAL, .backoff_min_for = 3,
           .backoff_max_for = NSEC_NEVER);
    PUT(s, .queue = "q");
    for (uint32_t attempts = 1; attempts <= JOB_ATTEMPTS_MAX + 2; attempts++) {
        nsec_t all = attempts < 62 ? (nsec_t)3 << (attempts - 1) : most_for;
        struct actor *w = stage_open(s, "w");

        assert_status(STATUS_OK, act_take_id(w, 1));
        act_close(w);
        stage_settle(s);
        assert_int_equal(stage_job(s, 1).remaining_for, all < most_for ? all : most_for);
    }
    assert_int_equal(stage_job(s, 1).attempts, JOB_ATTEMPTS_MAX);
}

static void jitter_takes_off_so_much_at_most(void **state)
{
    struct stage *s = *state;
    nsec_t least = SEC(10), most = 0;

    POLICY(s, "*", .backoff = BACKOFF_FIXED, .backoff_min_for = SEC(10),
           .backoff_jitter = POLICY_JITTER_WHOLE / 4);
    PUT(s, .queue = "q");
    for (int i = 0; i < 200; i++) {
        nsec_t wait_for = wait_after_a_loss(s);

        assert_in_range(wait_for, MSEC(7500), SEC(10));
        least = wait_for < least ? wait_for : least;
        most = wait_for > most ? wait_for : most;
    }
    assert_true(least < MSEC(7600) && most > MSEC(9900));
}

static void all_of_a_backoff_may_be_left_to_chance_but_some_is_left(void **state)
{
    struct stage *s = *state;

    POLICY(s, "*", .backoff = BACKOFF_FIXED, .backoff_min_for = 1,
           .backoff_jitter = POLICY_JITTER_WHOLE);
    PUT(s, .queue = "q");
    assert_int_equal(wait_after_a_loss(s), 1);
}

static void a_job_that_backs_off_keeps_its_place_among_equals(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 9, .backoff = BACKOFF_FIXED, .backoff_min_for = SEC(1));
    PUT(s, .queue = "q");
    PUT(s, .on_loss = ON_LOSS_BACK);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_fail(w, 2, NULL));
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    stage_advance(s, SEC(1));
    act_drain(w, "1 3 2");
}

static void late_holder_may_not_complete_a_job_during_its_backoff(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .backoff = BACKOFF_FIXED, .backoff_min_for = SEC(1));
    SUBMIT(c, .ttr_for = SEC(1));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    stage_expect(s, "c retried 1");
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, NULL));
    stage_advance(s, SEC(1));
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, NULL));
}

static void a_kick_ends_a_backoff_and_resets_attempts(void **state)
{
    struct stage *s = *state;

    POLICY(s, "*", .max_attempts = 9, .backoff = BACKOFF_EXPONENTIAL, .backoff_min_for = SEC(1));
    PUT(s, .queue = "q");
    assert_int_equal(wait_after_a_loss(s), SEC(1));
    assert_int_equal(wait_after_a_loss(s), SEC(2));
    assert_int_equal(stage_job(s, 1).attempts, 2);
    assert_status(
        STATUS_OK,
        stage_act(s, NULL, 1, ACT(.kind = ACT_CHANGE, .sets_delay = true, .delay_for = SEC(50))));
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    assert_int_equal(stage_job(s, 1).attempts, 0);
    assert_int_equal(wait_after_a_loss(s), SEC(1));
}

static void a_backoff_that_ends_in_a_pause_waits_for_the_end_of_that(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 9, .backoff = BACKOFF_FIXED, .backoff_min_for = SEC(2));
    PUT(s, .queue = "q");
    assert_int_equal(act_take(v), 1);
    act_wait(w);
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(3)));
    assert_status(STATUS_OK, act_fail(v, 1, NULL));
    stage_advance(s, SEC(2));
    stage_expect(s, "");
    stage_expect_jobs(s, "q", 1, 0, 0, 0);
    stage_advance(s, SEC(1));
    stage_expect(s, "w leased 1");
}

//
// The store
//

static void a_restart_keeps_the_attempts_and_the_remaining_backoff(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct stage *next;

    POLICY(s, "*", .max_attempts = 3, .backoff = BACKOFF_FIXED, .backoff_min_for = SEC(10));
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    stage_advance(s, SEC(2));
    next = stage_restart(s, SEC(3));
    assert_int_equal(stage_job(next, 1).attempts, 1);
    assert_int_equal(stage_job(next, 1).remaining_for, SEC(5));
    stage_free(next);
}

static void the_end_of_the_process_spends_no_attempt(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 1, .backoff = BACKOFF_FIXED, .backoff_min_for = SEC(10));
    PUT(s, .queue = "q");
    PUT(s, .max_attempts = 1);
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    broker_retire(s->broker);
    act_close(w);
    stage_settle(s);
    stage_expect_jobs(s, "q", 2, 0, 0, 0);
    assert_int_equal(stage_job(s, 1).attempts, 0);
    stage_expect_recorded(s, "submit 1; submit 2");
}

static void only_the_count_is_behind_where_the_store_has_no_room(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .max_attempts = 2);
    PUT(s, .queue = "q");
    stage_expect_recorded(s, "submit 1");
    s->refused = STORE_REFUSES(RECORD_SET);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    assert_int_equal(stage_job(s, 1).attempts, 1);
    assert_int_equal(stage_state(s, 1), JOB_READY);
    stage_expect_recorded(s, "");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    stage_expect_recorded(s, "bury 1");
}

static void attempts_are_not_told_to_the_store_without_a_policy(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(1), .max_attempts = 5);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    stage_expect_recorded(s, "submit 1");
}

static void a_failure_that_is_tried_again_counts_as_a_retry(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct counts counts;

    POLICY(s, "*", .max_attempts = 2);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    broker_counts(s->broker, &counts);
    assert_int_equal(counts.retries, 1);
    assert_int_equal(counts.failed, 0);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    broker_counts(s->broker, &counts);
    assert_int_equal(counts.retries, 1);
    assert_int_equal(counts.failed, 1);
    assert_int_equal(counts.dead, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_policy_bounds_attempts_where_the_contract_does_not),
        STORY(the_end_of_the_process_spends_nothing_and_drops_nothing),
        STORY(a_job_that_was_not_delivered_has_lost_nothing),
        STORY(a_waiting_session_that_leaves_before_it_is_told_spends_no_attempt),
        STORY(the_contract_comes_before_the_policy),
        STORY(a_reported_failure_is_an_attempt_if_no_client_waits),
        STORY(a_reported_failure_is_final_if_attempts_are_unlimited),
        STORY(watches_are_told_of_losses_and_then_of_the_failure),
        STORY(a_job_that_others_have_joined_is_retried_once_they_have_gone),
        STORY(an_abandoned_job_is_not_tried_again),
        STORY(a_limit_that_fails_a_job_is_an_attempt_if_no_client_waits),
        STORY(exhausted_job_is_buried_or_dropped_by_the_policy),
        STORY(a_release_without_a_delay_is_an_attempt_where_they_count),
        STORY(a_release_that_counts_waits_for_the_backoff),
        STORY(releases_spend_nothing_where_they_do_not_count),
        STORY(a_fixed_backoff_is_the_same_after_each_attempt),
        STORY(an_exponential_backoff_doubles_up_to_the_longest),
        STORY(doubling_never_overflows),
        STORY(jitter_takes_off_so_much_at_most),
        STORY(all_of_a_backoff_may_be_left_to_chance_but_some_is_left),
        STORY(a_job_that_backs_off_keeps_its_place_among_equals),
        STORY(late_holder_may_not_complete_a_job_during_its_backoff),
        STORY(a_kick_ends_a_backoff_and_resets_attempts),
        STORY(a_backoff_that_ends_in_a_pause_waits_for_the_end_of_that),
        STORY(a_restart_keeps_the_attempts_and_the_remaining_backoff),
        STORY(the_end_of_the_process_spends_no_attempt),
        STORY(only_the_count_is_behind_where_the_store_has_no_room),
        STORY(attempts_are_not_told_to_the_store_without_a_policy),
        STORY(a_failure_that_is_tried_again_counts_as_a_retry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
