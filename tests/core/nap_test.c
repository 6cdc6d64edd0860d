/* SPDX-License-Identifier: MIT */
// Sessions that nap: a nudge is a hint and withholds nothing.
#include "tests/core/stage.h"

static void nap_is_nudged_once(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_nap(w);
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

static void nap_beside_a_ready_job_is_nudged_at_once(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    act_nap(w);
    stage_expect(s, "w nudged");
    act_nap(w);
    stage_expect(s, "w nudged");
    assert_int_equal(act_take(w), 1);
    act_nap(w);
    stage_expect(s, "");
}

static void nap_of_a_napping_session_is_one_nap(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_nap(w);
    act_nap(w);
    assert_int_equal(stage_queue(s, "q").waiting, 1);
    PUT(s, .queue = "q");
    stage_expect(s, "w nudged");
}

static void jobs_of_two_queues_nudge_once(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_subscribe(w, "r");
    act_nap(w);
    PUT(s, .queue = "q");
    PUT(s, .queue = "r");
    stage_expect(s, "w nudged");
    assert_int_equal(stage_queue(s, "r").waiting, 0);
}

static void nudged_worker_that_never_grabs_withholds_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    act_nap(v);
    PUT(s, .queue = "q");
    stage_expect(s, "v nudged");
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(v), 0);
}

static void all_naps_of_the_queue_are_nudged(void **state)
{
    struct stage *s = *state;
    struct actor *u = stage_worker(s, "u", "q");
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "other");

    act_nap(v);
    act_nap(u);
    act_nap(w);
    PUT(s, .queue = "q");
    stage_expect(s, "v nudged; u nudged");
    assert_int_equal(stage_info(s).waiting, 1);
}

static void wakeup_bounds_how_many_naps_one_job_ends(void **state)
{
    struct stage *s = *state;
    struct actor *u = stage_worker(s, "u", "q");
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    broker_set_wakeup(s->broker, 2);
    act_nap(w);
    act_nap(u);
    act_nap(v);
    PUT(s, .queue = "q");
    stage_expect(s, "w nudged; u nudged");
    PUT(s, .queue = "q");
    stage_expect(s, "v nudged");
}

static void wakeup_of_zero_bounds_nothing_again(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    broker_set_wakeup(s->broker, 1);
    broker_set_wakeup(s->broker, 0);
    act_nap(w);
    act_nap(v);
    PUT(s, .queue = "q");
    stage_expect(s, "w nudged; v nudged");
}

static void nudged_session_that_leaves_passes_the_nudge_on(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    broker_set_wakeup(s->broker, 1);
    act_nap(w);
    act_nap(v);
    PUT(s, .queue = "q");
    stage_expect(s, "w nudged");
    act_close(w);
    stage_expect(s, "v nudged");
}

static void nudged_session_that_takes_something_else_passes_the_nudge_on(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    broker_set_wakeup(s->broker, 1);
    act_subscribe(w, "r");
    act_nap(w);
    act_nap(v);
    PUT(s, .queue = "q", .pri = 5);
    stage_expect(s, "w nudged");
    PUT(s, .queue = "r", .pri = 1);
    act_take(w);
    stage_expect(s, "v nudged");
}

static void nudged_session_that_unsubscribes_passes_the_nudge_on(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    broker_set_wakeup(s->broker, 1);
    act_nap(w);
    act_nap(v);
    PUT(s, .queue = "q");
    stage_expect(s, "w nudged");
    act_unsubscribe(w, "q");
    stage_expect(s, "v nudged");
}

static void nudged_session_that_takes_the_job_passes_nothing_on(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    broker_set_wakeup(s->broker, 1);
    act_nap(w);
    act_nap(v);
    PUT(s, .queue = "q");
    PUT(s, .queue = "r");
    stage_expect(s, "w nudged");
    act_take(w);
    act_close(w);
    stage_expect(s, "v nudged");
}

static void wait_goes_before_nap(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    act_nap(v);
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
    act_nap(w);
    stage_advance(s, SEC(5));
    stage_expect(s, "w nudged");
    assert_int_equal(act_take(v), 1);
    act_nap(w);
    stage_advance(s, SEC(5));
    stage_expect(s, "w nudged");
    assert_int_equal(act_take(v), 1);
    act_nap(w);
    assert_status(STATUS_OK, act_release(v, 1, 0, 0));
    stage_expect(s, "w nudged");
    assert_int_equal(act_take(v), 1);
    assert_status(STATUS_OK, act_bury(v, 1, 0));
    act_nap(w);
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    stage_expect(s, "w nudged");
    assert_int_equal(act_take(v), 1);
    act_nap(w);
    act_close(v);
    stage_expect(s, "w nudged");
}

static void subscription_wakes_a_nap_where_a_job_is_ready(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "r");
    act_nap(w);
    stage_expect(s, "");
    act_subscribe(w, "empty");
    stage_expect(s, "");
    act_subscribe(w, "r");
    stage_expect(s, "w nudged");
    act_subscribe(w, "r");
    stage_expect(s, "");
}

static void subscription_made_during_a_nap_is_listened_to(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_nap(w);
    act_subscribe(w, "r");
    assert_int_equal(stage_queue(s, "r").waiting, 1);
    PUT(s, .queue = "r");
    stage_expect(s, "w nudged");
}

static void subscription_ended_during_a_nap_is_not_listened_to(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_subscribe(w, "r");
    act_nap(w);
    act_unsubscribe(w, "r");
    PUT(s, .queue = "r");
    stage_expect(s, "");
    assert_int_equal(stage_queue(s, "r").waiting, 0);
    PUT(s, .queue = "q");
    stage_expect(s, "w nudged");
}

static void nap_without_subscriptions_wakes_with_the_first(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    act_nap(w);
    PUT(s, .queue = "q");
    stage_expect(s, "");
    act_subscribe(w, "q");
    stage_expect(s, "w nudged");
}

static void unwait_ends_a_nap_without_a_word(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_nap(w);
    assert_true(act_unwait(w));
    PUT(s, .queue = "q");
    stage_expect(s, "");
    assert_int_equal(stage_info(s).waiting, 0);
}

static void unwait_silences_a_nudge_that_was_not_told_yet(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_nap(w);
    PUT(s, .queue = "q");
    assert_true(act_unwait(w));
    stage_expect(s, "");
}

static void napping_session_that_leaves_is_told_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    act_nap(v);
    act_nap(w);
    act_close(v);
    PUT(s, .queue = "q");
    act_close(w);
    stage_expect(s, "");
}

static void nap_follows_a_wait_of_the_same_session(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(w);
    assert_true(act_unwait(w));
    act_nap(w);
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
        STORY(nap_is_nudged_once),
        STORY(nap_beside_a_ready_job_is_nudged_at_once),
        STORY(nap_of_a_napping_session_is_one_nap),
        STORY(jobs_of_two_queues_nudge_once),
        STORY(nudged_worker_that_never_grabs_withholds_nothing),
        STORY(all_naps_of_the_queue_are_nudged),
        STORY(wakeup_bounds_how_many_naps_one_job_ends),
        STORY(wakeup_of_zero_bounds_nothing_again),
        STORY(nudged_session_that_leaves_passes_the_nudge_on),
        STORY(nudged_session_that_takes_something_else_passes_the_nudge_on),
        STORY(nudged_session_that_unsubscribes_passes_the_nudge_on),
        STORY(nudged_session_that_takes_the_job_passes_nothing_on),
        STORY(wait_goes_before_nap),
        STORY(every_way_to_become_ready_nudges),
        STORY(subscription_wakes_a_nap_where_a_job_is_ready),
        STORY(subscription_made_during_a_nap_is_listened_to),
        STORY(subscription_ended_during_a_nap_is_not_listened_to),
        STORY(nap_without_subscriptions_wakes_with_the_first),
        STORY(unwait_ends_a_nap_without_a_word),
        STORY(unwait_silences_a_nudge_that_was_not_told_yet),
        STORY(napping_session_that_leaves_is_told_nothing),
        STORY(nap_follows_a_wait_of_the_same_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
