/* SPDX-License-Identifier: MIT */
// Sessions that wait for a job: each wait ends once, with a job or with a reason.
#include "tests/core/stage.h"

static void waiter_gets_the_next_job(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    assert_int_equal(act_take(w), 0);
    act_wait(w);
    stage_expect(s, "");
    assert_int_equal(stage_queue(s, "q").waiting, 1);
    assert_int_equal(stage_info(s).waiting, 1);
    PUT(s, .queue = "other");
    stage_expect(s, "");
    PUT(s, .queue = "q");
    assert_int_equal(stage_state(s, 2), JOB_RESERVED);
    assert_int_equal(stage_queue(s, "q").waiting, 0);
    stage_expect(s, "w leased 2");
    assert_int_equal(session_leases(w->session), 1);
    PUT(s, .queue = "q");
    stage_expect(s, "");
    assert_int_equal(stage_state(s, 3), JOB_READY);
}

static void longest_waiting_is_served_first(void **state)
{
    struct stage *s = *state;
    struct actor *u = stage_worker(s, "u", "q");
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(w);
    act_wait(u);
    act_wait(v);
    PUT(s, .queue = "q");
    PUT(s, .queue = "q");
    stage_expect(s, "w leased 1; u leased 2");
    act_wait(w);
    PUT(s, .queue = "q");
    PUT(s, .queue = "q");
    stage_expect(s, "v leased 3; w leased 4");
}

static void waiter_listens_to_all_its_queues(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_open(s, "v");
    struct actor *w = stage_worker(s, "w", "b");

    act_subscribe(v, "a");
    act_subscribe(v, "b");
    act_wait(v);
    act_wait(w);
    assert_int_equal(stage_queue(s, "b").waiting, 2);
    assert_int_equal(stage_info(s).waiting, 2);
    PUT(s, .queue = "b");
    stage_expect(s, "v leased 1");
    assert_int_equal(stage_queue(s, "a").waiting, 0);
    PUT(s, .queue = "a");
    PUT(s, .queue = "b");
    stage_expect(s, "w leased 3");
    assert_int_equal(act_take(v), 2);
}

static void wait_ends_at_its_moment_without_a_job(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    assert_status(STATUS_OK, act_wait_until(v, s->now.mono + SEC(5), -1));
    assert_status(STATUS_OK, act_wait_until(w, s->now.mono + SEC(3), -1));
    assert_int_equal(broker_next_due(s->broker), STAGE_MONO_AT + SEC(3));
    stage_advance(s, SEC(3) - 1);
    stage_expect(s, "");
    stage_advance(s, 1);
    stage_expect(s, "w timed_out");
    assert_int_equal(broker_next_due(s->broker), STAGE_MONO_AT + SEC(5));
    PUT(s, .queue = "q");
    stage_expect(s, "v leased 1");
    stage_advance(s, SEC(10));
    stage_expect(s, "");
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

static void wait_without_time_ends_at_once(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    assert_status(STATUS_TIMED_OUT, act_wait_until(w, s->now.mono, -1));
    assert_status(STATUS_TIMED_OUT, act_wait_until(w, s->now.mono - 1, SEC(1)));
    stage_expect(s, "");
    assert_int_equal(stage_info(s).waiting, 0);
}

static void wait_is_refused_while_a_lease_ends_soon(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(4));
    assert_status(STATUS_LEASE_SOON, act_wait_until(w, NSEC_NEVER, SEC(1)));
    // It answers so even if the wait would end at once.
    assert_status(STATUS_LEASE_SOON, act_wait_until(w, s->now.mono, SEC(1)));
    assert_status(STATUS_OK, act_wait_until(w, NSEC_NEVER, SEC(1) - NSEC_PER_MSEC));
    assert_true(act_unwait(w));
    assert_status(STATUS_OK, act_wait_until(w, NSEC_NEVER, -1));
    stage_expect(s, "");
}

static void wait_ends_when_a_lease_comes_close_to_its_end(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(60));
    PUT(s, .ttr_for = SEC(5));
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    assert_int_equal(act_take(w), 3);
    assert_status(STATUS_OK, act_wait_until(w, s->now.mono + SEC(30), SEC(1)));
    assert_int_equal(broker_next_due(s->broker), STAGE_MONO_AT + SEC(4));
    stage_advance(s, SEC(4) - 1);
    stage_expect(s, "");
    stage_advance(s, 1);
    stage_expect(s, "w lease_soon");
    stage_advance(s, SEC(40));
    stage_expect(s, "");
}

static void wait_ends_by_whichever_reason_comes_first(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(60));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_wait_until(w, s->now.mono + SEC(2), SEC(1)));
    stage_advance(s, SEC(2));
    stage_expect(s, "w timed_out");
}

static void touch_postpones_the_warning(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_wait_until(w, NSEC_NEVER, SEC(1)));
    stage_advance(s, SEC(3));
    assert_status(STATUS_OK, act_touch(w, 1));
    stage_advance(s, SEC(4) - 1);
    stage_expect(s, "");
    stage_advance(s, 1);
    stage_expect(s, "w lease_soon");
}

static void lease_of_another_session_does_not_end_a_wait(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(1), .queue = "q");
    assert_int_equal(act_take(v), 1);
    assert_status(STATUS_OK, act_wait_until(w, NSEC_NEVER, SEC(1)));
    stage_expect(s, "");
    stage_advance(s, SEC(1));
    stage_expect(s, "w leased 1");
}

static void waiter_may_get_the_job_back_that_it_lost_by_time(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    act_wait(w);
    stage_advance(s, SEC(5));
    stage_expect(s, "w leased 1");
    assert_int_equal(stage_job(s, 1).timeouts, 1);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(5));
}

static void every_way_to_become_ready_serves_a_waiter(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(50));
    assert_int_equal(act_take(v), 1);
    act_wait(w);
    assert_status(STATUS_OK, act_release(v, 1, 0, 0));
    stage_expect(s, "w leased 1");
    act_wait(v);
    assert_status(STATUS_OK, act_release(w, 1, 0, SEC(1)));
    stage_expect(s, "");
    stage_advance(s, SEC(1));
    stage_expect(s, "v leased 1");
    act_wait(w);
    assert_status(STATUS_OK, act_bury(v, 1, 0));
    assert_int_equal(stage_kick(s, "q", 1), 1);
    stage_expect(s, "w leased 1");
    act_wait(v);
    assert_status(STATUS_OK, act_release(w, 1, 0, SEC(100)));
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    stage_expect(s, "v leased 1");
    act_wait(w);
    act_close(v);
    stage_expect(s, "w leased 1");
    assert_status(STATUS_OK, act_bury(w, 1, 0));
    act_wait(w);
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    stage_expect(s, "w leased 1");
}

static void unwait_ends_a_wait_silently(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    assert_status(STATUS_OK, act_wait_until(w, s->now.mono + SEC(1), -1));
    assert_true(act_unwait(w));
    assert_int_equal(stage_info(s).waiting, 0);
    PUT(s, .queue = "q");
    stage_advance(s, SEC(2));
    stage_expect(s, "");
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void unwait_cannot_take_back_an_assignment(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(w);
    PUT(s, .queue = "q");
    assert_false(act_unwait(w));
    stage_expect(s, "w leased 1");
    assert_int_equal(session_leases(w->session), 1);
}

static void unwait_without_a_wait_is_harmless(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    assert_true(act_unwait(w));
    stage_expect(s, "");
}

static void unwait_silences_an_end_that_was_not_told_yet(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    assert_status(STATUS_OK, act_wait_until(w, s->now.mono + SEC(1), -1));
    s->now.mono += SEC(1);
    broker_tick(s->broker, s->now);
    assert_true(act_unwait(w));
    stage_expect(s, "");
    // The session is free to wait again.
    act_wait(w);
    PUT(s, .queue = "q");
    stage_expect(s, "w leased 1");
}

static void job_that_arrives_after_the_end_goes_elsewhere(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    assert_status(STATUS_OK, act_wait_until(v, s->now.mono + SEC(1), -1));
    act_wait(w);
    s->now.mono += SEC(1);
    broker_tick(s->broker, s->now);
    // The wait of v is over, though v was not told: exactly one event follows.
    PUT(s, .queue = "q");
    stage_expect(s, "v timed_out; w leased 1");
}

static void waiter_that_leaves_is_told_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(v);
    act_wait(w);
    act_close(v);
    PUT(s, .queue = "q");
    stage_expect(s, "w leased 1");
}

static void waiter_that_leaves_before_it_is_told_costs_the_job_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(v);
    act_wait(w);
    PUT(s, .queue = "q");
    act_close(v);
    stage_expect(s, "w leased 1");
    assert_int_equal(stage_job(s, 1).attempts, 0);
    assert_int_equal(stage_job(s, 1).reserves, 1);
}

static void lease_that_ends_before_it_was_told_is_told_nevertheless(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(w);
    PUT(s, .ttr_for = SEC(5));
    s->now.mono += SEC(5);
    // The event comes first: the session is told of its job, and then loses it.
    s->settling = true;
    while (broker_settle(s->broker)) {
    }
    s->settling = false;
    stage_expect_told(s, "w leased 1");
    stage_settle(s);
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
}

static void lease_that_ends_before_its_event_is_not_told_and_the_wait_goes_on(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(w);
    PUT(s, .ttr_for = SEC(5), .max_attempts = 1, .on_fail = ON_FAIL_DROP);
    s->now.mono += SEC(5);
    broker_tick(s->broker, s->now);
    // The job was lost before its session was told, and assigned again: one lease is told, and no
    // attempt was spent.
    assert_int_equal(stage_job(s, 1).timeouts, 0);
    assert_int_equal(stage_job(s, 1).attempts, 0);
    stage_expect(s, "w leased 1");
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(5));
    stage_advance(s, SEC(5));
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    stage_expect(s, "");
}

static void wait_that_goes_on_still_ends_at_its_moment(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    assert_status(STATUS_OK, act_wait_until(w, s->now.mono + SEC(3), -1));
    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_cancel_held(s, 1));
    stage_expect(s, "");
    assert_int_equal(stage_info(s).waiting, 1);
    stage_advance(s, SEC(3));
    stage_expect(s, "w timed_out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(waiter_gets_the_next_job),
        STORY(longest_waiting_is_served_first),
        STORY(waiter_listens_to_all_its_queues),
        STORY(wait_ends_at_its_moment_without_a_job),
        STORY(wait_without_time_ends_at_once),
        STORY(wait_is_refused_while_a_lease_ends_soon),
        STORY(wait_ends_when_a_lease_comes_close_to_its_end),
        STORY(wait_ends_by_whichever_reason_comes_first),
        STORY(touch_postpones_the_warning),
        STORY(lease_of_another_session_does_not_end_a_wait),
        STORY(waiter_may_get_the_job_back_that_it_lost_by_time),
        STORY(every_way_to_become_ready_serves_a_waiter),
        STORY(unwait_ends_a_wait_silently),
        STORY(unwait_cannot_take_back_an_assignment),
        STORY(unwait_without_a_wait_is_harmless),
        STORY(unwait_silences_an_end_that_was_not_told_yet),
        STORY(job_that_arrives_after_the_end_goes_elsewhere),
        STORY(waiter_that_leaves_is_told_nothing),
        STORY(waiter_that_leaves_before_it_is_told_costs_the_job_nothing),
        STORY(lease_that_ends_before_it_was_told_is_told_nevertheless),
        STORY(lease_that_ends_before_its_event_is_not_told_and_the_wait_goes_on),
        STORY(wait_that_goes_on_still_ends_at_its_moment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
