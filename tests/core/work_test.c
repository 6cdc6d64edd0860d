/* SPDX-License-Identifier: MIT */
// The verbs of a job's holder, and the outcome of jobs that are lost or given up.
#include "tests/core/stage.h"

static void job_is_taken_by_id_when_ready_delayed_or_buried(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    PUT(s, .ttr_for = SEC(9));
    PUT(s, .ttr_for = SEC(9), .delay_for = SEC(5));
    PUT_BURIED(s, .ttr_for = SEC(9));
    PUT(s, .ttr_for = SEC(9), .at = STAGE_WALL_AT + SEC(5));
    for (uint64_t id = 1; id <= 4; id++) {
        assert_status(STATUS_OK, act_take_id(w, id));
        assert_int_equal(stage_state(s, id), JOB_RESERVED);
        assert_int_equal(stage_job(s, id).remaining_for, SEC(9));
    }
    assert_int_equal(session_leases(w->session), 4);
    stage_expect_jobs(s, "q", 0, 0, 4, 0);
    stage_advance(s, SEC(9));
    stage_expect_jobs(s, "q", 4, 0, 0, 0);
}

static void held_or_missing_job_is_not_taken_by_id(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *other = stage_open(s, "other");

    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_NOT_FOUND, act_take_id(w, 1));
    assert_status(STATUS_NOT_FOUND, act_take_id(other, 1));
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_status(STATUS_NOT_FOUND, act_take_id(w, 1));
    assert_status(STATUS_NOT_FOUND, act_take_id(w, 0));
    assert_status(STATUS_NOT_FOUND, act_take_id(w, 12345));
}

static void holder_completes(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, "result"));
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    assert_int_equal(session_leases(w->session), 0);
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, "again"));
    stage_expect(s, "c complete 1 result");
}

static void only_the_holder_completes_fails_releases_or_buries(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *other = stage_worker(s, "other", "q");

    PUT(s, .queue = "q");
    for (int held = 0; held < 2; held++) {
        assert_status(STATUS_NOT_FOUND, act_complete(other, 1, NULL));
        assert_status(STATUS_NOT_FOUND, act_fail(other, 1, NULL));
        assert_status(STATUS_NOT_FOUND, act_release(other, 1, 0, 0));
        assert_status(STATUS_NOT_FOUND, act_bury(other, 1, 0));
        assert_status(STATUS_NOT_FOUND, act_data(other, 1, "x"));
        if (!held) {
            assert_int_equal(act_take(w), 1);
        }
    }
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    assert_int_equal(stage_job(s, 1).releases + stage_job(s, 1).buries, 0);
}

static void last_holder_may_complete_after_its_time_ran_out(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *other = stage_worker(s, "other", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .ttr_for = SEC(5), .on_loss = ON_LOSS_BACK);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(5));
    assert_status(STATUS_NOT_FOUND, act_complete(other, 1, "theirs"));
    assert_status(STATUS_NOT_FOUND, act_fail(w, 1, NULL));
    assert_status(STATUS_NOT_FOUND, act_release(w, 1, 0, 0));
    assert_status(STATUS_NOT_FOUND, act_bury(w, 1, 0));
    assert_status(STATUS_NOT_FOUND, act_touch(w, 1));
    assert_status(STATUS_OK, act_complete(w, 1, "late"));
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    stage_expect(s, "c complete 1 late");
}

static void reports_of_a_late_holder_are_part_of_its_result(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *other = stage_worker(s, "other", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .ttr_for = SEC(5), .key = "k");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "one"));
    stage_advance(s, SEC(5));
    assert_status(STATUS_NOT_FOUND, act_data(other, 1, "theirs"));
    assert_status(STATUS_OK, act_data(w, 1, "two"));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_true(stage_job(s, 1).data_reported);
    assert_status(STATUS_OK, act_complete(w, 1, "three"));
    stage_expect(s, "c data 1 one; c data 1 two; c complete 1 three");
}

static void reports_of_a_late_holder_count_until_another_takes_the_job(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *other = stage_worker(s, "other", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .ttr_for = SEC(5), .key = "k");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "one"));
    stage_advance(s, SEC(5));
    stage_expect(s, "c data 1 one");
    assert_int_equal(act_take(other), 1);
    assert_false(stage_job(s, 1).data_reported);
    assert_status(STATUS_NOT_FOUND, act_data(w, 1, "two"));
    stage_expect(s, "c retried 1");
    assert_status(STATUS_OK, act_complete(other, 1, "all"));
    stage_expect(s, "c complete 1 all");
}

static void late_holder_that_takes_its_job_again_begins_again(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(5));
    assert_status(STATUS_OK, act_take_id(w, 1));
    stage_expect(s, "c retried 1");
}

static void completion_is_a_failure_where_data_was_lost(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .key = "k");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "one"));
    broker_data_lost(c->session, 1);
    broker_data_lost(w->session, 1);
    broker_data_lost(w->session, 2);
    assert_status(STATUS_OK, act_complete(w, 1, "three"));
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    stage_expect(s, "c data 1 one; c failed 1");
}

static void data_that_was_lost_in_another_attempt_does_not_matter(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .queue = "q");
    assert_int_equal(act_take(w), 1);
    broker_data_lost(w->session, 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, "all"));
    stage_expect(s, "c retried 1; c complete 1 all");
}

static void late_completion_is_refused_once_the_job_is_taken(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *other = stage_worker(s, "other", "q");

    PUT(s, .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(5));
    assert_int_equal(act_take(other), 1);
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, NULL));
    assert_status(STATUS_OK, act_release(other, 1, 0, 0));
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, NULL));
    assert_status(STATUS_NOT_FOUND, act_complete(other, 1, NULL));
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void late_completion_is_refused_after_a_limit(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    act_subscribe_on(w, "q", SEC(2), ON_LIMIT_RETRY);
    PUT(s, .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(2));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, NULL));
}

static void late_completion_is_refused_after_giving_back(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    act_give_back(w, "q");
    stage_settle(s);
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, NULL));
}

static void new_session_in_the_place_of_the_last_holder_is_another_one(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(5));
    act_close(w);
    stage_settle(s);
    w = stage_worker(s, "w", "q");
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, NULL));
}

static void failure_ends_as_the_submitter_said(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .on_fail = ON_FAIL_DROP);
    SUBMIT(c, .on_fail = ON_FAIL_BURY);
    SUBMIT(c, .on_fail = ON_FAIL_DROP);
    for (uint64_t id = 1; id <= 3; id++) {
        assert_int_equal(act_take(w), id);
    }
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    assert_status(STATUS_OK, act_fail(w, 2, NULL));
    assert_status(STATUS_OK, act_fail(w, 3, "boom"));
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    assert_int_equal(stage_state(s, 2), JOB_BURIED);
    assert_int_equal(stage_job(s, 2).watches, 0);
    assert_int_equal(stage_state(s, 3), JOB_GONE);
    stage_expect(s, "c failed 1; c failed 2; c exception 3 boom");
}

static void bury_keeps_a_durable_job_of_any_submitter(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .on_fail = ON_FAIL_DROP);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_bury(w, 1, 3));
    assert_int_equal(stage_state(s, 1), JOB_BURIED);
    assert_int_equal(stage_job(s, 1).buries, 1);
    assert_int_equal(stage_job(s, 1).watches, 0);
    stage_expect(s, "c failed 1");
}

static void job_that_is_not_durable_is_never_buried(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .fleeting = true, .on_fail = ON_FAIL_DROP);
    SUBMIT(c, .fleeting = true, .on_fail = ON_FAIL_BURY);
    SUBMIT(c, .fleeting = true, .on_fail = ON_FAIL_BURY);
    for (uint64_t id = 1; id <= 3; id++) {
        assert_int_equal(act_take(w), id);
    }
    assert_status(STATUS_OK, act_bury(w, 1, 0));
    assert_status(STATUS_OK, act_bury(w, 2, 0));
    assert_status(STATUS_OK, act_fail(w, 3, NULL));
    for (uint64_t id = 1; id <= 3; id++) {
        assert_int_equal(stage_state(s, id), JOB_GONE);
    }
    stage_expect(s, "c failed 1; c failed 2; c failed 3");
}

static void release_after_a_delay_waits(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .fleeting = true);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, SEC(3)));
    assert_int_equal(stage_state(s, 1), JOB_DELAYED);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(3));
    stage_advance(s, SEC(3));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
}

static void release_is_no_attempt(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .max_attempts = 1);
    for (uint32_t i = 1; i <= 40; i++) {
        assert_int_equal(act_take(w), 1);
        assert_status(STATUS_OK, act_release(w, 1, 0, 0));
        assert_int_equal(stage_job(s, 1).reserves, i);
        assert_int_equal(stage_job(s, 1).releases, i);
    }
    assert_int_equal(stage_job(s, 1).attempts, 0);
}

static void every_loss_is_an_attempt(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    PUT(s, .ttr_for = SEC(5));
    act_subscribe_on(w, "q", SEC(9), ON_LIMIT_RETRY);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(5));
    assert_int_equal(stage_job(s, 1).attempts, 1);
    act_subscribe_on(w, "q", SEC(2), ON_LIMIT_RETRY);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(2));
    assert_int_equal(stage_job(s, 1).attempts, 2);
    assert_int_equal(act_take(w), 1);
    act_give_back(w, "q");
    stage_settle(s);
    assert_int_equal(stage_job(s, 1).attempts, 3);
    assert_status(STATUS_OK, act_take_id(w, 1));
    act_close(w);
    stage_settle(s);
    assert_int_equal(stage_job(s, 1).attempts, 4);
    assert_int_equal(stage_job(s, 1).timeouts, 2);
    assert_int_equal(stage_info(s).timeouts, 2);
}

static void last_attempt_that_is_lost_is_a_failure(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .max_attempts = 2, .ttr_for = SEC(1), .on_fail = ON_FAIL_DROP);
    SUBMIT(c, .max_attempts = 2, .ttr_for = SEC(1), .on_fail = ON_FAIL_BURY);
    for (int i = 0; i < 2; i++) {
        struct actor *w = stage_worker(s, "w", "q");

        assert_int_equal(act_take(w), 1);
        assert_int_equal(act_take(w), 2);
        if (i == 0) {
            act_close(w);
            stage_expect(s, "c retried 1; c retried 2");
        } else {
            stage_advance(s, SEC(1));
            stage_expect(s, "c failed 1; c failed 2");
        }
    }
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    assert_int_equal(stage_state(s, 2), JOB_BURIED);
    assert_int_equal(stage_job(s, 2).attempts, 2);
}

static void kick_gives_all_attempts_back(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .max_attempts = 1, .ttr_for = SEC(1), .on_fail = ON_FAIL_BURY);
    for (uint32_t i = 1; i <= 3; i++) {
        assert_int_equal(act_take(w), 1);
        stage_advance(s, SEC(1));
        assert_int_equal(stage_state(s, 1), JOB_BURIED);
        assert_int_equal(stage_job(s, 1).attempts, 1);
        assert_status(STATUS_OK, stage_kick_id(s, 1));
        assert_int_equal(stage_job(s, 1).attempts, 0);
        assert_int_equal(stage_job(s, 1).kicks, i);
    }
}

static void attempts_without_a_limit_never_start_over(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(1));
    for (int i = 0; i < 1100; i++) {
        uint32_t before = stage_job(s, 1).attempts;

        assert_int_equal(act_take(w), 1);
        stage_advance(s, SEC(1));
        assert_true(stage_job(s, 1).attempts >= before);
    }
    assert_true(stage_job(s, 1).attempts >= JOB_ATTEMPTS_MAX);
    assert_int_equal(stage_job(s, 1).timeouts, 1100);
    assert_int_equal(stage_job(s, 1).reserves, 1100);
}

static void unsubscribing_leaves_leases_alone(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    act_unsubscribe(w, "q");
    act_unsubscribe(w, "never seen");
    assert_false(session_subscribed(w->session, SLICE("q")));
    stage_settle(s);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
}

static void giving_back_concerns_jobs_of_that_subscription(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_subscribe(w, "r");
    PUT(s, .queue = "q");
    PUT(s, .queue = "r");
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_take_id(w, 3));
    act_give_back(w, "q");
    stage_settle(s);
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(stage_state(s, 2), JOB_RESERVED);
    assert_int_equal(stage_state(s, 3), JOB_RESERVED);
    act_give_back(w, "q");
    stage_settle(s);
    assert_int_equal(session_leases(w->session), 2);
}

static void leases_from_a_waited_for_job_are_given_back_too(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *other = stage_worker(s, "other", "q");

    act_wait(w);
    PUT(s, .queue = "q");
    stage_expect(s, "w leased 1");
    act_wait(other);
    act_give_back(w, "q");
    stage_expect(s, "other leased 1");
}

static void any_session_cancels_a_job_that_is_not_held(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .queue = "q");
    SUBMIT(c, .delay_for = SEC(9));
    PUT_BURIED(s, .queue = "q");
    for (uint64_t id = 1; id <= 3; id++) {
        assert_status(STATUS_OK, stage_cancel(s, id));
        assert_status(STATUS_NOT_FOUND, stage_cancel(s, id));
    }
    stage_expect(s, "c cancelled 1; c cancelled 2");
    assert_null(stage_find(s, "q"));
}

static void job_in_a_workers_hands_is_taken_back_only_on_request(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_HELD, stage_cancel(s, 1));
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    assert_status(STATUS_OK, stage_cancel_held(s, 1));
    assert_int_equal(session_leases(w->session), 0);
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, "late"));
    assert_status(STATUS_NOT_FOUND, act_data(w, 1, "late"));
    assert_status(STATUS_NOT_FOUND, stage_cancel_held(s, 1));
    stage_expect(s, "c cancelled 1");
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

static void job_cancelled_before_its_worker_was_told_ends_the_wait_once(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(w);
    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_cancel_held(s, 1));
    // The job that it was to be told of is gone: it waits on, and still gets one answer.
    stage_settle(s);
    PUT(s, .queue = "q");
    stage_expect(s, "w leased 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(job_is_taken_by_id_when_ready_delayed_or_buried),
        STORY(held_or_missing_job_is_not_taken_by_id),
        STORY(holder_completes),
        STORY(only_the_holder_completes_fails_releases_or_buries),
        STORY(last_holder_may_complete_after_its_time_ran_out),
        STORY(reports_of_a_late_holder_are_part_of_its_result),
        STORY(reports_of_a_late_holder_count_until_another_takes_the_job),
        STORY(late_holder_that_takes_its_job_again_begins_again),
        STORY(completion_is_a_failure_where_data_was_lost),
        STORY(data_that_was_lost_in_another_attempt_does_not_matter),
        STORY(late_completion_is_refused_once_the_job_is_taken),
        STORY(late_completion_is_refused_after_a_limit),
        STORY(late_completion_is_refused_after_giving_back),
        STORY(new_session_in_the_place_of_the_last_holder_is_another_one),
        STORY(failure_ends_as_the_submitter_said),
        STORY(bury_keeps_a_durable_job_of_any_submitter),
        STORY(job_that_is_not_durable_is_never_buried),
        STORY(release_after_a_delay_waits),
        STORY(release_is_no_attempt),
        STORY(every_loss_is_an_attempt),
        STORY(last_attempt_that_is_lost_is_a_failure),
        STORY(kick_gives_all_attempts_back),
        STORY(attempts_without_a_limit_never_start_over),
        STORY(unsubscribing_leaves_leases_alone),
        STORY(giving_back_concerns_jobs_of_that_subscription),
        STORY(leases_from_a_waited_for_job_are_given_back_too),
        STORY(any_session_cancels_a_job_that_is_not_held),
        STORY(job_in_a_workers_hands_is_taken_back_only_on_request),
        STORY(job_cancelled_before_its_worker_was_told_ends_the_wait_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
