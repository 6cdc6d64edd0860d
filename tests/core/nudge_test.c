/* SPDX-License-Identifier: MIT */
// Sessions that wait for a nudge, which is a hint and withholds nothing.
#include "tests/core/stage.h"

static void wait_for_a_nudge_ends_once(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_await_nudge(w);
    stage_expect(s, "");
    assert_int_equal(stage_queue(s, "q").waiting, 1);
    PUT(s, .queue = "q");
    PUT(s, .queue = "q");
    stage_expect(s, "w nudged");
    PUT(s, .queue = "q");
    stage_expect(s, "");
    assert_int_equal(stage_queue(s, "q").waiting, 0);
    stage_expect_jobs(s, "q", 3, 0, 0, 0);
}

static void ready_job_nudges_at_once(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    act_await_nudge(w);
    stage_expect(s, "w nudged");
    act_await_nudge(w);
    stage_expect(s, "w nudged");
    assert_int_equal(act_take(w), 1);
    act_await_nudge(w);
    stage_expect(s, "");
}

static void waiting_twice_for_a_nudge_is_one_wait(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_await_nudge(w);
    act_await_nudge(w);
    assert_int_equal(stage_queue(s, "q").waiting, 1);
    PUT(s, .queue = "q");
    stage_expect(s, "w nudged");
}

static void jobs_of_two_queues_nudge_once(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_subscribe(w, "r");
    act_await_nudge(w);
    PUT(s, .queue = "q");
    PUT(s, .queue = "r");
    stage_expect(s, "w nudged");
    assert_int_equal(stage_queue(s, "r").waiting, 0);
}

static void nudged_worker_that_never_grabs_holds_no_job_back(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    act_await_nudge(v);
    PUT(s, .queue = "q");
    stage_expect(s, "v nudged");
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(v), 0);
}

static void all_sessions_that_wait_for_a_nudge_get_one(void **state)
{
    struct stage *s = *state;
    struct actor *u = stage_worker(s, "u", "q");
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "other");

    act_await_nudge(v);
    act_await_nudge(u);
    act_await_nudge(w);
    PUT(s, .queue = "q");
    stage_expect(s, "v nudged; u nudged");
    assert_int_equal(stage_info(s).waiting, 1);
}

static void wakeup_limits_the_nudges_of_one_job(void **state)
{
    struct stage *s = *state;
    struct actor *u = stage_worker(s, "u", "q");
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    broker_set_nudges(s->broker, 2);
    act_await_nudge(w);
    act_await_nudge(u);
    act_await_nudge(v);
    PUT(s, .queue = "q");
    stage_expect(s, "w nudged; u nudged");
    PUT(s, .queue = "q");
    stage_expect(s, "v nudged");
}

// One nudge for each job, also when several become ready at once: a pause ends, a worker leaves
// with several jobs, or the limit of running jobs is raised.
static void jobs_that_come_together_nudge_for_each(void **state)
{
    enum { JOBS = 3 };

    struct stage *s = *state;
    struct actor *holder = stage_worker(s, "holder", "q");

    broker_set_nudges(s->broker, 1);
    for (int i = 0; i < JOBS + 1; i++) {
        act_await_nudge(stage_worker(s, "w", "q"));
    }
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(5)));
    for (int i = 0; i < JOBS; i++) {
        PUT(s, .queue = "q");
    }
    stage_expect(s, "");
    stage_advance(s, SEC(5));
    stage_expect(s, "w nudged; w nudged; w nudged");
    for (int i = 0; i < JOBS; i++) {
        assert_true(act_take(holder) > 0);
        act_await_nudge(stage_worker(s, "v", "q"));
    }
    stage_expect(s, "v nudged; v nudged");
    act_close(holder);
    stage_expect(s, "w nudged; v nudged");
}

static void zero_nudges_each_removes_the_bound_again(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    broker_set_nudges(s->broker, 1);
    broker_set_nudges(s->broker, 0);
    act_await_nudge(w);
    act_await_nudge(v);
    PUT(s, .queue = "q");
    stage_expect(s, "w nudged; v nudged");
}

// `w` waits for a nudge on `q`, then `v`; a job nudges one of them.
static struct actor *first_of_two(struct stage *s)
{
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    broker_set_nudges(s->broker, 1);
    act_await_nudge(w);
    act_await_nudge(v);
    return w;
}

static void nudged_session_that_leaves_passes_the_nudge_on(void **state)
{
    struct stage *s = *state;
    struct actor *w = first_of_two(s);

    PUT(s, .queue = "q");
    stage_expect(s, "w nudged");
    act_close(w);
    stage_expect(s, "v nudged");
}

static void nudged_session_that_takes_another_job_passes_the_nudge_on(void **state)
{
    struct stage *s = *state;
    struct actor *w = first_of_two(s);

    act_subscribe(w, "r");
    PUT(s, .queue = "q", .pri = 5);
    stage_expect(s, "w nudged");
    PUT(s, .queue = "r", .pri = 1);
    act_take(w);
    stage_expect(s, "v nudged");
}

static void nudged_session_that_unsubscribes_passes_the_nudge_on(void **state)
{
    struct stage *s = *state;
    struct actor *w = first_of_two(s);

    PUT(s, .queue = "q");
    stage_expect(s, "w nudged");
    act_unsubscribe(w, "q");
    stage_expect(s, "v nudged");
}

static void nudged_session_that_takes_the_job_passes_nothing_on(void **state)
{
    struct stage *s = *state;
    struct actor *w = first_of_two(s);

    PUT(s, .queue = "q");
    PUT(s, .queue = "r");
    stage_expect(s, "w nudged");
    act_take(w);
    act_close(w);
    stage_expect(s, "v nudged");
}

static void wait_for_a_job_comes_before_a_wait_for_a_nudge(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    act_await_nudge(v);
    act_wait(w);
    PUT(s, .queue = "q");
    stage_expect(s, "w leased 1");
    assert_int_equal(stage_queue(s, "q").waiting, 1);
    PUT(s, .queue = "q");
    stage_expect(s, "v nudged");
}

static void every_way_to_become_ready_nudges(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(5), .delay_for = SEC(5));
    act_await_nudge(w);
    stage_advance(s, SEC(5));
    stage_expect(s, "w nudged");
    assert_int_equal(act_take(v), 1);
    act_await_nudge(w);
    stage_advance(s, SEC(5));
    stage_expect(s, "w nudged");
    assert_int_equal(act_take(v), 1);
    act_await_nudge(w);
    assert_status(STATUS_OK, act_release(v, 1, 0, 0));
    stage_expect(s, "w nudged");
    assert_int_equal(act_take(v), 1);
    assert_status(STATUS_OK, act_bury(v, 1, 0));
    act_await_nudge(w);
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    stage_expect(s, "w nudged");
    assert_int_equal(act_take(v), 1);
    act_await_nudge(w);
    act_close(v);
    stage_expect(s, "w nudged");
}

static void new_subscription_nudges_where_a_job_is_ready(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "r");
    act_await_nudge(w);
    stage_expect(s, "");
    act_subscribe(w, "empty");
    stage_expect(s, "");
    act_subscribe(w, "r");
    stage_expect(s, "w nudged");
    act_subscribe(w, "r");
    stage_expect(s, "");
}

static void subscription_made_while_awaiting_a_nudge_counts(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_await_nudge(w);
    act_subscribe(w, "r");
    assert_int_equal(stage_queue(s, "r").waiting, 1);
    PUT(s, .queue = "r");
    stage_expect(s, "w nudged");
}

static void subscription_ended_while_awaiting_a_nudge_does_not_count(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_subscribe(w, "r");
    act_await_nudge(w);
    act_unsubscribe(w, "r");
    PUT(s, .queue = "r");
    stage_expect(s, "");
    assert_int_equal(stage_queue(s, "r").waiting, 0);
    PUT(s, .queue = "q");
    stage_expect(s, "w nudged");
}

static void wait_for_a_nudge_without_subscriptions_ends_with_the_first(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    act_await_nudge(w);
    PUT(s, .queue = "q");
    stage_expect(s, "");
    act_subscribe(w, "q");
    stage_expect(s, "w nudged");
}

static void unwait_ends_a_wait_for_a_nudge_silently(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_await_nudge(w);
    assert_true(act_unwait(w));
    PUT(s, .queue = "q");
    stage_expect(s, "");
    assert_int_equal(stage_info(s).waiting, 0);
}

static void unwait_silences_a_nudge_that_was_not_told_yet(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_await_nudge(w);
    PUT(s, .queue = "q");
    assert_true(act_unwait(w));
    stage_expect(s, "");
}

static void session_that_leaves_while_it_awaits_a_nudge_is_told_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    act_await_nudge(v);
    act_await_nudge(w);
    act_close(v);
    PUT(s, .queue = "q");
    act_close(w);
    stage_expect(s, "");
}

static void wait_for_a_nudge_follows_a_wait_for_a_job(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(w);
    assert_true(act_unwait(w));
    act_await_nudge(w);
    PUT(s, .queue = "q");
    stage_expect(s, "w nudged");
    assert_int_equal(act_take(w), 1);
    act_wait(w);
    PUT(s, .queue = "q");
    stage_expect(s, "w leased 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(wait_for_a_nudge_ends_once),
        STORY(ready_job_nudges_at_once),
        STORY(waiting_twice_for_a_nudge_is_one_wait),
        STORY(jobs_of_two_queues_nudge_once),
        STORY(nudged_worker_that_never_grabs_holds_no_job_back),
        STORY(all_sessions_that_wait_for_a_nudge_get_one),
        STORY(wakeup_limits_the_nudges_of_one_job),
        STORY(jobs_that_come_together_nudge_for_each),
        STORY(zero_nudges_each_removes_the_bound_again),
        STORY(nudged_session_that_leaves_passes_the_nudge_on),
        STORY(nudged_session_that_takes_another_job_passes_the_nudge_on),
        STORY(nudged_session_that_unsubscribes_passes_the_nudge_on),
        STORY(nudged_session_that_takes_the_job_passes_nothing_on),
        STORY(wait_for_a_job_comes_before_a_wait_for_a_nudge),
        STORY(every_way_to_become_ready_nudges),
        STORY(new_subscription_nudges_where_a_job_is_ready),
        STORY(subscription_made_while_awaiting_a_nudge_counts),
        STORY(subscription_ended_while_awaiting_a_nudge_does_not_count),
        STORY(wait_for_a_nudge_without_subscriptions_ends_with_the_first),
        STORY(unwait_ends_a_wait_for_a_nudge_silently),
        STORY(unwait_silences_a_nudge_that_was_not_told_yet),
        STORY(session_that_leaves_while_it_awaits_a_nudge_is_told_nothing),
        STORY(wait_for_a_nudge_follows_a_wait_for_a_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
