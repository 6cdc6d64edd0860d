/* SPDX-License-Identifier: MIT */
// Queues that their policies close: by the number of held jobs, and by the rate of takes.
#include "tests/core/stage.h"
#include "tests/support/broker_check.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/policies.h"

#include <stdio.h>

static nsec_t due_in(struct stage *s)
{
    nsec_t at = broker_next_due(s->broker);

    return at == NSEC_NEVER ? NSEC_NEVER : at - s->now.mono;
}

static void put_many(struct stage *s, int count)
{
    for (int i = 0; i < count; i++) {
        PUT(s, .queue = "q");
    }
}

//
// max_running
//

static void no_more_than_max_running_are_held(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .max_running = 2);
    put_many(s, 4);
    assert_int_equal(act_take(v), 1);
    assert_int_equal(act_take(w), 2);
    assert_int_equal(act_take(w), 0);
    assert_int_equal(stage_queue(s, "q").closed, CLOSED_RUNNING);
    assert_int_equal(due_in(s), NSEC_NEVER);
    assert_status(STATUS_OK, act_complete(v, 1, NULL));
    assert_int_equal(stage_queue(s, "q").closed, 0);
    assert_int_equal(act_take(w), 3);
    assert_int_equal(act_take(v), 0);
}

// Each of these ends the lease of job 1, so that a waiting session gets job 2, or job 1 again.
static void each_end_of_a_lease_opens_the_queue(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .max_running = 1);
    for (int end = 0; end < 7; end++) {
        uint64_t first = PUT(s, .ttr_for = SEC(1));
        uint64_t second = PUT(s, .pri = 1);
        bool again = end == 1 || end == 2 || end == 6;

        assert_int_equal(act_take(w), first);
        act_wait(v);
        stage_expect(s, "");
        if (end == 0) {
            assert_status(STATUS_OK, act_complete(w, first, NULL));
        } else if (end == 1) {
            assert_status(STATUS_OK, act_release(w, first, 0, 0));
        } else if (end == 2) {
            stage_advance(s, SEC(1));
        } else if (end == 3) {
            assert_status(STATUS_OK, act_bury(w, first, 0));
        } else if (end == 4) {
            assert_status(STATUS_OK, act_fail(w, first, NULL));
        } else if (end == 5) {
            assert_status(STATUS_OK, stage_cancel_held(s, first));
        } else {
            act_close(w);
            w = stage_worker(s, "w", "q");
        }
        stage_settle(s);
        assert_int_equal(stage_state(s, again ? first : second), JOB_RESERVED);
        s->told.len = 0;
        (void)stage_cancel_held(s, first);
        (void)stage_cancel_held(s, second);
        stage_settle(s);
        s->told.len = 0;
    }
}

static void touch_and_report_keep_the_queue_closed(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .max_running = 1, .rate_interval_for = SEC(1), .burst = 2);
    PUT(s, .ttr_for = SEC(9));
    PUT(s, .pri = 1);
    assert_int_equal(act_take(w), 1);
    act_wait(v);
    stage_advance(s, SEC(1));
    assert_status(STATUS_OK, act_touch(w, 1));
    assert_status(STATUS_OK, act_data(w, 1, "part"));
    stage_expect(s, "");
    assert_int_equal(due_in(s), SEC(9));
}

static void wait_until_the_end_of_the_lease_that_closes_the_queue_gets_a_job(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *v = stage_worker(s, "v", "q");

    POLICY(s, "q", .max_running = 1);
    PUT(s, .ttr_for = SEC(1), .max_attempts = 1, .on_fail = ON_FAIL_DROP);
    PUT(s, .pri = 1);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_wait_until(v, s->now.mono + SEC(1), -1));
    stage_advance(s, SEC(1));
    stage_expect(s, "v leased 2");
}

static void job_is_taken_by_its_id_from_a_closed_queue_and_counts(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .max_running = 2);
    put_many(s, 4);
    assert_status(STATUS_OK, act_take_id(w, 1));
    assert_int_equal(act_take(w), 2);
    assert_int_equal(act_take(w), 0);
    assert_status(STATUS_OK, act_take_id(w, 3));
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_int_equal(act_take(w), 0);
    assert_status(STATUS_OK, act_complete(w, 2, NULL));
    assert_int_equal(act_take(w), 4);
}

static void one_is_nudged_for_each_job_that_may_be_taken(void **state)
{
    struct stage *s = *state;
    struct actor *t = stage_worker(s, "t", "q");
    struct actor *u = stage_worker(s, "u", "q");
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .max_running = 1);
    put_many(s, 3);
    assert_int_equal(act_take(w), 1);
    act_await_nudge(t);
    act_await_nudge(u);
    act_await_nudge(v);
    stage_expect(s, "");
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    stage_expect(s, "t nudged");
    act_close(t); // passes it on
    stage_expect(s, "u nudged");
    assert_int_equal(act_take(u), 2);
    assert_status(STATUS_OK, act_release(u, 2, 0, 0));
    stage_expect(s, "v nudged");
}

static void ready_jobs_nudge_no_more_than_may_be_taken(void **state)
{
    struct stage *s = *state;
    struct actor *u = stage_worker(s, "u", "q");
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");
    const struct job_spec spec = {.queue = stage_find(s, "q")};
    struct submission submission;

    POLICY(s, "q", .max_running = 2);
    act_await_nudge(u);
    act_await_nudge(v);
    act_await_nudge(w);
    for (int i = 0; i < 5; i++) {
        assert_status(STATUS_OK, broker_submit(s->broker, &spec, NULL, &submission));
    }
    stage_expect(s, "u nudged; v nudged");
}

//
// rate
//

static void rate_lets_a_burst_and_then_one_each_interval(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .rate_interval_for = MSEC(200), .burst = 3);
    put_many(s, 9);
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    assert_int_equal(act_take(w), 3);
    assert_int_equal(act_take(w), 0);
    assert_int_equal(stage_queue(s, "q").closed, CLOSED_RATE);
    assert_int_equal(stage_queue(s, "q").rate_remaining_for, MSEC(200));
    assert_int_equal(due_in(s), MSEC(200));
    stage_advance(s, MSEC(200) - 1);
    assert_int_equal(act_take(w), 0);
    stage_advance(s, 1);
    assert_int_equal(act_take(w), 4);
    assert_int_equal(act_take(w), 0);
    stage_advance(s, MSEC(400));
    assert_int_equal(act_take(w), 5);
    assert_int_equal(act_take(w), 6);
    assert_int_equal(act_take(w), 0);
    stage_advance(s, SEC(60)); // a rest
    assert_int_equal(act_take(w), 7);
    assert_int_equal(act_take(w), 8);
    assert_int_equal(act_take(w), 9);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 0);
}

static void rate_is_exact_to_the_nanosecond_over_a_long_time(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    nsec_t began = s->now.mono;

    POLICY(s, "q", .rate_interval_for = 333333333);
    for (int i = 0; i < 1000; i++) {
        PUT(s, .queue = "q");
        if (act_take(w) == 0) {
            act_wait(w);
            stage_advance_to_due(s);
        }
        s->told.len = 0;
        assert_int_equal(stage_queue(s, "q").jobs[JOB_RESERVED], i + 1);
    }
    assert_int_equal(s->now.mono - began, 999 * INT64_C(333333333));
}

static void waiting_sessions_get_one_job_per_interval(void **state)
{
    struct stage *s = *state;
    struct actor *u = stage_worker(s, "u", "q");
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .rate_interval_for = SEC(1));
    act_wait(w);
    act_wait(v);
    act_await_nudge(u);
    put_many(s, 3);
    stage_expect(s, "w leased 1");
    stage_advance(s, SEC(1));
    stage_expect(s, "v leased 2");
    stage_advance(s, SEC(1));
    stage_expect(s, "u nudged");
    assert_int_equal(act_take(u), 3);
}

static void job_taken_by_its_id_spends_no_rate(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .rate_interval_for = SEC(1));
    put_many(s, 4);
    assert_status(STATUS_OK, act_take_id(w, 1));
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_take_id(w, 3));
    stage_advance(s, SEC(1));
    assert_int_equal(act_take(w), 4);
}

static void job_that_is_taken_again_counts_again(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .rate_interval_for = SEC(1), .burst = 2);
    put_many(s, 3);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 0);
}

static void undelivered_take_does_not_use_the_rate(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w;

    POLICY(s, "q", .rate_interval_for = SEC(60), .burst = 2);
    put_many(s, 4);
    for (int i = 0; i < 3; i++) {
        w = stage_worker(s, "w", "q");
        assert_int_equal(act_take(w), 1);
        assert_int_equal(act_take(w), 2);
        assert_int_equal(act_take(w), 0);
        assert_status(STATUS_OK, act_take_id(w, 3));
        broker_all_undelivered(w->session);
        act_close(w);
        stage_settle(s);
        assert_int_equal(stage_queue(s, "q").closed, 0);
    }
    // A session that waits for the rate gets the best of the jobs that came back.
    w = stage_worker(s, "w", "q");
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    act_wait(v);
    broker_undelivered(w->session, 1);
    act_close(w);
    stage_expect(s, "v leased 1");
    assert_int_equal(stage_queue(s, "q").rate_remaining_for, SEC(60));
}

static void queue_stays_until_its_rate_is_at_rest(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .rate_interval_for = SEC(1), .burst = 2);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    act_close(w);
    stage_settle(s);
    assert_non_null(stage_find(s, "q"));
    assert_int_equal(due_in(s), SEC(1));
    stage_advance(s, SEC(1) - 1);
    assert_non_null(stage_find(s, "q"));
    stage_advance(s, 1);
    assert_null(stage_find(s, "q"));
    assert_int_equal(due_in(s), NSEC_NEVER);
}

static void queue_retained_by_its_rate_is_removed_with_the_policy(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .rate_interval_for = SEC(1));
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    act_close(w);
    stage_settle(s);
    assert_non_null(stage_find(s, "q"));
    POLICY(s, "other", .max_jobs = 1);
    assert_null(stage_find(s, "q"));
}

//
// Pairs
//

static void rate_and_max_running_both_hold(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .rate_interval_for = SEC(1), .burst = 2, .max_running = 2);
    put_many(s, 5);
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    assert_int_equal(stage_queue(s, "q").closed, CLOSED_RATE | CLOSED_RUNNING);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_int_equal(act_take(w), 0);
    assert_int_equal(stage_queue(s, "q").closed, CLOSED_RATE);
    stage_advance(s, SEC(1));
    assert_int_equal(act_take(w), 3);
    stage_advance(s, SEC(1));
    assert_int_equal(stage_queue(s, "q").closed, CLOSED_RUNNING);
    assert_int_equal(act_take(w), 0);
    assert_status(STATUS_OK, act_complete(w, 2, NULL));
    assert_int_equal(act_take(w), 4);
}

static void rate_recovers_while_the_queue_is_paused(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .rate_interval_for = SEC(1));
    put_many(s, 3);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(5)));
    act_wait(w);
    stage_advance(s, SEC(1));
    stage_expect(s, "");
    assert_int_equal(stage_queue(s, "q").closed, CLOSED_PAUSED);
    stage_advance(s, SEC(4));
    stage_expect(s, "w leased 2");
    assert_status(STATUS_OK, stage_pause(s, "q", MSEC(500)));
    stage_advance(s, MSEC(500));
    assert_int_equal(stage_queue(s, "q").closed, CLOSED_RATE);
}

static void priorities_of_other_queues_hold_while_one_is_closed(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_subscribe(w, "r");
    POLICY(s, "q", .rate_interval_for = SEC(1));
    put_many(s, 2);
    PUT(s, .queue = "r", .pri = 9);
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 3);
    assert_int_equal(act_take(w), 0);
    stage_advance(s, SEC(1));
    assert_int_equal(act_take(w), 2);
}

//
// Policies that change
//

static void policy_taken_away_opens_the_queue_at_once(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .rate_interval_for = SEC(50), .max_running = 1);
    put_many(s, 3);
    assert_int_equal(act_take(w), 1);
    act_wait(v);
    stage_expect(s, "");
    POLICY(s, "none", .max_running = 1);
    stage_expect(s, "v leased 2");
    assert_int_equal(stage_queue(s, "q").closed, 0);
    assert_int_equal(due_in(s), NSEC_NEVER);
}

static void new_policy_counts_held_jobs(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    put_many(s, 4);
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    POLICY(s, "q", .max_running = 2, .rate_interval_for = SEC(1));
    assert_int_equal(act_take(w), 0);
    POLICY(s, "q", .max_running = 3, .rate_interval_for = SEC(1));
    assert_int_equal(act_take(w), 3); // the rate begins at rest
    assert_int_equal(act_take(w), 0);
}

static void faster_rate_owes_nothing_to_a_slow_one(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .rate_interval_for = SEC(86400), .burst = 2);
    put_many(s, 5);
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    POLICY(s, "q", .rate_interval_for = MSEC(10), .burst = 2);
    assert_int_equal(act_take(w), 0);
    assert_int_equal(due_in(s), MSEC(10));
    stage_advance(s, MSEC(10));
    assert_int_equal(act_take(w), 3);
}

static void longest_interval_and_burst_do_not_overflow(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .rate_interval_for = NSEC_NEVER, .burst = UINT32_MAX);
    put_many(s, 3);
    assert_int_equal(act_take(w), 1);
    POLICY(s, "q", .rate_interval_for = NSEC_NEVER);
    assert_int_equal(act_take(w), 0);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_status(STATUS_OK, stage_cancel(s, 2));
    assert_status(STATUS_OK, stage_cancel(s, 3));
    act_close(w);
    assert_int_equal(due_in(s), NSEC_NEVER - 1 - s->now.mono);
}

//
// Memory
//

static void new_queue_without_memory_for_its_gate_is_refused(void **state)
{
    struct stage *s = *state;
    bool refused = false;

    POLICY(s, "q*", .max_running = 1);
    for (unsigned long n = 1; stage_find(s, "q") == NULL; n++) {
        struct job_spec spec = {.body = SLICE("x")};
        struct submission submission;
        enum status status;

        nth_alloc_fail(n);
        status = broker_submit_to(s->broker, SLICE("q"), &spec, NULL, &submission);
        nth_alloc_fail(0);
        refused = refused || status == STATUS_NO_MEMORY;
        assert_true(status == STATUS_OK || status == STATUS_NO_MEMORY);
        stage_step(s);
    }
    assert_true(refused);
    assert_int_equal(stage_queue(s, "q").closed, 0);
}

static void queue_without_memory_for_its_gate_gets_its_policy_later(void **state)
{
    enum { QUEUES = 200 };

    struct stage *s = *state;
    const struct policy_rule rule = {.glob = SLICE("*"), .spec = {.max_running = 1}};
    bool put_off = false;
    char name[16];

    for (int i = 0; i < QUEUES; i++) {
        (void)snprintf(name, sizeof name, "q%d", i);
        PUT(s, .queue = name);
    }
    assert_status(STATUS_OK, set_policies(s->broker, &rule, 1));
    for (int i = 0; i < QUEUES && !put_off; i++) {
        nth_alloc_fail(1);
        broker_tick(s->broker, s->now);
        nth_alloc_fail(0);
        stage_step(s);
        put_off = due_in(s) == SEC(1);
    }
    assert_true(put_off);
    stage_advance(s, SEC(1));
    while (!check_policies_settled(s->broker)) {
        broker_tick(s->broker, s->now);
    }
    stage_step(s);
    for (int i = 0; i < QUEUES; i++) {
        (void)snprintf(name, sizeof name, "q%d", i);
        assert_non_null(queue_policy(stage_find(s, name)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(no_more_than_max_running_are_held),
        STORY(each_end_of_a_lease_opens_the_queue),
        STORY(touch_and_report_keep_the_queue_closed),
        STORY(wait_until_the_end_of_the_lease_that_closes_the_queue_gets_a_job),
        STORY(job_is_taken_by_its_id_from_a_closed_queue_and_counts),
        STORY(one_is_nudged_for_each_job_that_may_be_taken),
        STORY(ready_jobs_nudge_no_more_than_may_be_taken),
        STORY(rate_lets_a_burst_and_then_one_each_interval),
        STORY(rate_is_exact_to_the_nanosecond_over_a_long_time),
        STORY(waiting_sessions_get_one_job_per_interval),
        STORY(undelivered_take_does_not_use_the_rate),
        STORY(job_taken_by_its_id_spends_no_rate),
        STORY(job_that_is_taken_again_counts_again),
        STORY(queue_stays_until_its_rate_is_at_rest),
        STORY(queue_retained_by_its_rate_is_removed_with_the_policy),
        STORY(rate_and_max_running_both_hold),
        STORY(rate_recovers_while_the_queue_is_paused),
        STORY(priorities_of_other_queues_hold_while_one_is_closed),
        STORY(policy_taken_away_opens_the_queue_at_once),
        STORY(new_policy_counts_held_jobs),
        STORY(faster_rate_owes_nothing_to_a_slow_one),
        STORY(longest_interval_and_burst_do_not_overflow),
        STORY(new_queue_without_memory_for_its_gate_is_refused),
        STORY(queue_without_memory_for_its_gate_gets_its_policy_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
