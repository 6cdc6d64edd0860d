/* SPDX-License-Identifier: MIT */
// Time passes: delays, calendar moments, and the time to run.
#include "tests/core/stage.h"

static void delayed_job_is_ready_at_its_moment_and_not_before(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .delay_for = SEC(10));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(10));
    stage_advance(s, SEC(10) - 1);
    assert_int_equal(stage_state(s, 1), JOB_DELAYED);
    assert_int_equal(act_take(w), 0);
    stage_advance(s, 1);
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(act_take(w), 1);
}

static void delay_given_stays_readable(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .delay_for = SEC(3));
    stage_advance(s, SEC(3));
    assert_int_equal(stage_job(s, 1).delay_for, SEC(3));
    assert_int_equal(stage_job(s, 1).remaining_for, 0);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, SEC(7)));
    assert_int_equal(stage_job(s, 1).delay_for, SEC(7));
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    assert_int_equal(stage_job(s, 1).delay_for, SEC(7));
}

static void next_due_names_the_next_delay_to_end(void **state)
{
    struct stage *s = *state;

    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
    assert_int_equal(broker_now(s->broker).mono, STAGE_MONO_AT);
    assert_int_equal(broker_now(s->broker).wall, STAGE_WALL_AT);
    PUT(s, .delay_for = SEC(20));
    PUT(s, .delay_for = SEC(10), .queue = "r");
    stage_settle(s);
    assert_int_equal(broker_next_due(s->broker), STAGE_MONO_AT + SEC(10));
    assert_status(STATUS_OK, stage_cancel(s, 2));
    stage_settle(s);
    assert_int_equal(broker_next_due(s->broker), STAGE_MONO_AT + SEC(20));
    assert_status(STATUS_OK, stage_cancel(s, 1));
    stage_settle(s);
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

static void next_due_is_the_present_where_work_is_left_over(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(w);
    PUT(s, .queue = "q");
    assert_int_equal(broker_next_due(s->broker), s->now.mono);
    stage_expect(s, "w leased 1");
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

static void delays_do_not_follow_the_wall_clock(void **state)
{
    struct stage *s = *state;

    PUT(s, .delay_for = SEC(10));
    stage_step_wall(s, SEC(3600));
    assert_int_equal(stage_state(s, 1), JOB_DELAYED);
    stage_step_wall(s, -SEC(7200));
    stage_advance(s, SEC(10));
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void calendar_moment_makes_a_job_ready(void **state)
{
    struct stage *s = *state;

    PUT(s, .at = STAGE_WALL_AT + SEC(30));
    assert_int_equal(stage_state(s, 1), JOB_DELAYED);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(30));
    stage_advance(s, SEC(30) - 1);
    assert_int_equal(stage_state(s, 1), JOB_DELAYED);
    stage_advance(s, 1);
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void past_calendar_moment_means_now(void **state)
{
    struct stage *s = *state;

    PUT(s, .at = STAGE_WALL_AT - SEC(30));
    PUT(s, .at = STAGE_WALL_AT);
    PUT(s, .at = 1);
    stage_expect_jobs(s, "q", 3, 0, 0, 0);
}

static void calendar_moments_follow_steps_of_the_wall_clock(void **state)
{
    struct stage *s = *state;

    PUT(s, .at = STAGE_WALL_AT + SEC(3600));
    PUT(s, .at = STAGE_WALL_AT + SEC(60));
    stage_step_wall(s, SEC(3600));
    stage_expect_jobs(s, "q", 2, 0, 0, 0);
    PUT(s, .at = s->now.wall + SEC(10));
    stage_step_wall(s, -SEC(100));
    stage_advance(s, SEC(10));
    assert_int_equal(stage_state(s, 3), JOB_DELAYED);
    stage_advance(s, SEC(100));
    assert_int_equal(stage_state(s, 3), JOB_READY);
}

static void next_due_is_within_a_second_while_a_calendar_moment_is_pending(void **state)
{
    struct stage *s = *state;
    nsec_t due_at;

    PUT(s, .at = STAGE_WALL_AT + SEC(3600));
    stage_settle(s);
    due_at = broker_next_due(s->broker);
    assert_true(due_at > s->now.mono && due_at <= s->now.mono + SEC(1));
    stage_advance(s, SEC(3599) + MSEC(500));
    due_at = broker_next_due(s->broker);
    assert_int_equal(due_at, s->now.mono + MSEC(500));
    stage_advance(s, MSEC(500));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

static void next_due_never_hides_an_earlier_calendar_moment_of_another_queue(void **state)
{
    struct stage *s = *state;

    PUT(s, .queue = "a", .at = STAGE_WALL_AT + MSEC(900));
    PUT(s, .queue = "b", .at = STAGE_WALL_AT + MSEC(200));
    PUT(s, .queue = "c", .at = STAGE_WALL_AT + MSEC(500));
    stage_advance_to_due(s);
    assert_int_equal(stage_state(s, 2), JOB_READY);
    assert_int_equal(stage_state(s, 3), JOB_DELAYED);
    stage_advance_to_due(s);
    assert_int_equal(stage_state(s, 3), JOB_READY);
    stage_advance_to_due(s);
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void expired_lease_returns_job_to_ready(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(10));
    assert_int_equal(act_take(w), 1);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(10));
    stage_advance(s, SEC(10) - 1);
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    stage_advance(s, 1);
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(stage_job(s, 1).timeouts, 1);
    assert_int_equal(stage_job(s, 1).attempts, 1);
    assert_int_equal(stage_info(s).timeouts, 1);
    assert_int_equal(session_leases(w->session), 0);
    stage_expect(s, "");
}

static void job_without_ttr_is_held_until_its_holder_leaves(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_int_equal(stage_job(s, 1).ttr_for, 0);
    assert_int_equal(stage_job(s, 1).remaining_for, 0);
    assert_status(STATUS_OK, act_touch(w, 1));
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
    stage_advance(s, SEC(86400 * 365));
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    act_close(w);
    stage_settle(s);
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void ttr_is_kept_in_whole_seconds_rounded_up(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = MSEC(1200));
    assert_int_equal(stage_job(s, 1).ttr_for, SEC(2));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(2) - 1);
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    stage_advance(s, 1);
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void touch_renews_the_time_to_run(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(10));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(6));
    assert_status(STATUS_OK, act_touch(w, 1));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(10));
    stage_advance(s, SEC(9));
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    stage_advance(s, SEC(1));
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void every_report_renews_the_time_to_run(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .ttr_for = SEC(10));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(9));
    assert_status(STATUS_OK, act_progress(w, 1, 1, 3));
    stage_advance(s, SEC(9));
    assert_status(STATUS_OK, act_data(w, 1, "part"));
    stage_advance(s, SEC(9));
    assert_status(STATUS_OK, act_warning(w, 1, "slow"));
    stage_advance(s, SEC(9));
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    stage_advance(s, SEC(1));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    stage_expect(s, "c progress 1 1/3; c data 1 part; c warning 1 slow");
}

static void report_without_watches_renews_the_time_to_run(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(10));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(9));
    assert_status(STATUS_OK, act_data(w, 1, "part"));
    stage_advance(s, SEC(9));
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
}

static void only_the_holder_touches(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *other = stage_worker(s, "other", "q");

    PUT(s, .ttr_for = SEC(10));
    assert_status(STATUS_NOT_FOUND, act_touch(w, 1));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_NOT_FOUND, act_touch(other, 1));
    assert_status(STATUS_NOT_FOUND, act_touch(w, 99));
    stage_advance(s, SEC(10));
    assert_status(STATUS_NOT_FOUND, act_touch(w, 1));
}

static void limit_of_the_subscription_ends_the_lease_and_nothing_extends_it(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    act_subscribe_on(w, "q", SEC(4), ON_LIMIT_RETRY);
    PUT(s, .ttr_for = SEC(100));
    assert_int_equal(act_take(w), 1);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(4));
    stage_advance(s, SEC(3));
    assert_status(STATUS_OK, act_touch(w, 1));
    assert_status(STATUS_OK, act_progress(w, 1, 1, 2));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(1));
    stage_advance(s, SEC(1));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(stage_job(s, 1).timeouts, 1);
    assert_int_equal(stage_job(s, 1).attempts, 1);
}

static void lease_ends_at_the_earlier_of_ttr_and_limit(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    act_subscribe_on(w, "q", SEC(4) + MSEC(1), ON_LIMIT_RETRY);
    PUT(s, .ttr_for = SEC(3));
    assert_int_equal(act_take(w), 1);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(3));
    stage_advance(s, SEC(2));
    assert_status(STATUS_OK, act_touch(w, 1));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(2) + MSEC(1));
    stage_advance(s, SEC(2));
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    stage_advance(s, MSEC(1));
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void limit_holds_for_a_job_without_ttr(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    act_subscribe_on(w, "q", MSEC(250), ON_LIMIT_RETRY);
    PUT(s, .on_loss = ON_LOSS_BACK);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    stage_advance_to_due(s);
    assert_int_equal(s->now.mono, STAGE_MONO_AT + MSEC(250));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    act_drain(w, "2 1");
}

static void holder_may_end_limits_which_renews_the_time_to_run(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    act_subscribe_on(w, "q", SEC(4), ON_LIMIT_FAIL);
    PUT(s, .ttr_for = SEC(10));
    PUT(s, .ttr_for = SEC(2));
    PUT(s, .queue = "q");
    for (uint64_t id = 1; id <= 3; id++) {
        assert_int_equal(act_take(w), id);
    }
    stage_advance(s, SEC(1));
    act_end_limits(w);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(10));
    assert_int_equal(stage_job(s, 2).remaining_for, SEC(2));
    assert_int_equal(stage_job(s, 3).remaining_for, 0);
    stage_advance(s, SEC(100));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(stage_state(s, 3), JOB_RESERVED);
    assert_int_equal(act_take(w), 1);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(4));
}

static void limits_of_others_and_leases_without_one_stay_as_they_are(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_open(s, "v");
    struct actor *w = stage_worker(s, "w", "r");

    act_subscribe_on(v, "q", SEC(4), ON_LIMIT_RETRY);
    PUT(s, .queue = "q");
    PUT(s, .queue = "r", .ttr_for = SEC(10));
    assert_int_equal(act_take(v), 1);
    assert_int_equal(act_take(w), 2);
    stage_advance(s, SEC(1));
    act_end_limits(w);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(3));
    assert_int_equal(stage_job(s, 2).remaining_for, SEC(9));
}

static void limit_may_mean_failure(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");
    struct actor *c = stage_open(s, "c");

    act_subscribe_on(w, "q", SEC(1), ON_LIMIT_FAIL);
    SUBMIT(c, .on_fail = ON_FAIL_DROP);
    SUBMIT(c, .on_fail = ON_FAIL_BURY);
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    stage_advance(s, SEC(1));
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    assert_int_equal(stage_state(s, 2), JOB_BURIED);
    assert_int_equal(stage_job(s, 2).timeouts, 1);
    stage_expect(s, "c failed 1; c failed 2");
}

static void ttr_retries_even_where_the_limit_means_failure(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    act_subscribe_on(w, "q", SEC(5), ON_LIMIT_FAIL);
    PUT(s, .ttr_for = SEC(1), .on_fail = ON_FAIL_DROP);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void new_terms_are_for_leases_to_come(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    act_subscribe_on(w, "q", SEC(10), ON_LIMIT_RETRY);
    PUT(s, .queue = "q");
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    act_subscribe_on(w, "q", SEC(2), ON_LIMIT_RETRY);
    assert_int_equal(session_subscriptions(w->session), 1);
    assert_int_equal(act_take(w), 2);
    stage_advance(s, SEC(2));
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    assert_int_equal(stage_state(s, 2), JOB_READY);
    stage_advance(s, SEC(8));
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void lease_starts_when_the_job_is_assigned(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(w);
    PUT(s, .ttr_for = SEC(10));
    // The job is assigned, and its session is not told for four seconds.
    s->now.mono += SEC(4);
    stage_expect(s, "w leased 1");
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(6));
}

static void very_long_times_do_not_overflow(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    nsec_t longest = nsec_from_seconds(UINT32_MAX);

    PUT(s, .delay_for = longest, .ttr_for = longest);
    assert_int_equal(stage_job(s, 1).remaining_for, longest);
    assert_int_equal(stage_job(s, 1).delay_for, longest);
    assert_int_equal(stage_job(s, 1).ttr_for, longest);
    assert_status(STATUS_OK, act_take_id(w, 1));
    assert_int_equal(stage_job(s, 1).remaining_for, longest);
    stage_advance(s, longest);
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void age_counts_from_the_submission(void **state)
{
    struct stage *s = *state;

    PUT(s, .delay_for = SEC(2));
    assert_int_equal(stage_job(s, 1).age_for, 0);
    assert_int_equal(stage_job(s, 1).created_at, STAGE_WALL_AT);
    stage_advance(s, SEC(65));
    assert_int_equal(stage_job(s, 1).age_for, SEC(65));
}

//
// Timers of the same moment
//

static void delays_of_one_moment_end_in_the_order_in_which_they_were_set(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "a");

    act_subscribe(w, "b");
    for (int i = 0; i < 2; i++) {
        PUT(s, .queue = i ? "a" : "b", .delay_for = SEC(5));
        PUT(s, .queue = i ? "b" : "a", .delay_for = SEC(5));
        act_wait(w);
        stage_advance(s, SEC(5));
        stage_expect(s, i ? "w leased 3" : "w leased 1");
        assert_status(STATUS_OK, stage_cancel(s, i ? 4 : 2));
    }
}

static void pauses_of_one_moment_end_together(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "a");

    act_subscribe(w, "b");
    PUT(s, .queue = "a");
    PUT(s, .queue = "b");
    for (int i = 0; i < 2; i++) {
        assert_status(STATUS_OK, stage_pause(s, i ? "a" : "b", SEC(5)));
        assert_status(STATUS_OK, stage_pause(s, i ? "b" : "a", SEC(5)));
        act_wait(w);
        stage_advance(s, SEC(5));
        stage_expect(s, "w leased 1");
        assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    }
}

// If a pause, a delay and two leases end in one tick, in any order, the session that has waited
// longest gets the best job.
static void jobs_that_become_ready_in_one_tick_are_given_best_first(void **state)
{
    struct stage *s = *state;
    struct actor *holder = stage_worker(s, "holder", "held");
    struct actor *w = stage_worker(s, "w", "paused");

    act_subscribe(w, "delayed");
    act_subscribe(w, "held");
    PUT(s, .queue = "paused", .pri = 3);
    assert_status(STATUS_OK, stage_pause(s, "paused", SEC(3)));
    PUT(s, .queue = "delayed", .pri = 2, .delay_for = SEC(4));
    PUT(s, .queue = "held", .pri = 1, .ttr_for = SEC(5));
    PUT(s, .queue = "held", .pri = 4, .ttr_for = SEC(4));
    assert_int_equal(act_take(holder), 3);
    assert_int_equal(act_take(holder), 4);
    act_wait(w);
    stage_advance(s, SEC(6));
    stage_expect(s, "w leased 3");
}

// The order in which sessions were opened, or stand in memory, does not matter.
static void jobs_of_leases_that_end_together_are_given_best_first(void **state)
{
    struct stage *s = *state;

    for (uint64_t i = 0; i < 2; i++) {
        struct actor *before = stage_open(s, "before");
        struct actor *first = stage_worker(s, "first", "q");
        struct actor *second;
        struct actor *waiter;

        if (i == 0) {
            act_close(before);
        }
        second = stage_worker(s, "second", "q");
        PUT(s, .ttr_for = SEC(5));
        PUT(s, .ttr_for = SEC(5));
        assert_int_equal(act_take(second), 2 * i + 1);
        assert_int_equal(act_take(first), 2 * i + 2);
        waiter = stage_worker(s, "waiter", "q");
        act_wait(waiter);
        stage_advance(s, SEC(5));
        stage_expect(s, i ? "waiter leased 3" : "waiter leased 1");
        assert_status(STATUS_OK, act_complete(waiter, 2 * i + 1, NULL));
        assert_status(STATUS_OK, stage_cancel(s, 2 * i + 2));
    }
}

static void session_that_waits_until_a_lease_ends_gets_the_job(void **state)
{
    struct stage *s = *state;
    struct actor *early = stage_worker(s, "early", "q");
    struct actor *holder = stage_worker(s, "holder", "q");
    struct actor *late = stage_worker(s, "late", "q");

    PUT(s, .ttr_for = SEC(5));
    assert_int_equal(act_take(holder), 1);
    assert_status(STATUS_OK, act_wait_until(late, s->now.mono + SEC(5), -1));
    assert_status(STATUS_OK, act_wait_until(early, s->now.mono + SEC(5), -1));
    stage_advance(s, SEC(5));
    stage_expect(s, "late leased 1; early timed_out");
    stage_advance(s, SEC(1));
    assert_status(STATUS_OK, act_wait_until(early, s->now.mono + SEC(4), -1));
    stage_advance(s, SEC(4));
    stage_expect(s, "early leased 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(delayed_job_is_ready_at_its_moment_and_not_before),
        STORY(delay_given_stays_readable),
        STORY(next_due_names_the_next_delay_to_end),
        STORY(next_due_is_the_present_where_work_is_left_over),
        STORY(delays_do_not_follow_the_wall_clock),
        STORY(calendar_moment_makes_a_job_ready),
        STORY(past_calendar_moment_means_now),
        STORY(calendar_moments_follow_steps_of_the_wall_clock),
        STORY(next_due_is_within_a_second_while_a_calendar_moment_is_pending),
        STORY(next_due_never_hides_an_earlier_calendar_moment_of_another_queue),
        STORY(expired_lease_returns_job_to_ready),
        STORY(job_without_ttr_is_held_until_its_holder_leaves),
        STORY(ttr_is_kept_in_whole_seconds_rounded_up),
        STORY(touch_renews_the_time_to_run),
        STORY(every_report_renews_the_time_to_run),
        STORY(report_without_watches_renews_the_time_to_run),
        STORY(only_the_holder_touches),
        STORY(limit_of_the_subscription_ends_the_lease_and_nothing_extends_it),
        STORY(lease_ends_at_the_earlier_of_ttr_and_limit),
        STORY(limit_holds_for_a_job_without_ttr),
        STORY(holder_may_end_limits_which_renews_the_time_to_run),
        STORY(limits_of_others_and_leases_without_one_stay_as_they_are),
        STORY(limit_may_mean_failure),
        STORY(ttr_retries_even_where_the_limit_means_failure),
        STORY(new_terms_are_for_leases_to_come),
        STORY(lease_starts_when_the_job_is_assigned),
        STORY(very_long_times_do_not_overflow),
        STORY(age_counts_from_the_submission),
        STORY(delays_of_one_moment_end_in_the_order_in_which_they_were_set),
        STORY(pauses_of_one_moment_end_together),
        STORY(jobs_that_become_ready_in_one_tick_are_given_best_first),
        STORY(jobs_of_leases_that_end_together_are_given_best_first),
        STORY(session_that_waits_until_a_lease_ends_gets_the_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
