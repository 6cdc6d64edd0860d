/* SPDX-License-Identifier: MIT */
// The order in which jobs are taken, and the queues that they are taken from.
#include "tests/core/stage.h"

static void lowest_priority_number_is_taken_first(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .pri = 7);
    PUT(s, .pri = UINT32_MAX);
    PUT(s, .pri = 0);
    act_drain(w, "3 1 2");
}

static void equals_are_taken_in_order_of_submission(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    for (int i = 0; i < 12; i++) {
        PUT(s, .pri = 4);
    }
    act_drain(w, "1 2 3 4 5 6 7 8 9 10 11 12");
}

static void released_job_keeps_its_place(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .on_loss = ON_LOSS_BACK);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    act_drain(w, "1 2");
}

static void job_handed_straight_to_a_waiter_has_its_place_all_the_same(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .delay_for = SEC(5));
    assert_status(STATUS_OK, act_wait_until(w, NSEC_NEVER, -1));
    PUT(s, .queue = "q");
    stage_expect(s, "w leased 2");
    assert_status(STATUS_OK, act_release(w, 2, 0, 0));
    stage_advance(s, SEC(5));
    act_drain(w, "1 2");
}

static void release_changes_the_priority(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .pri = 1);
    PUT(s, .pri = 2);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 3, 0));
    assert_int_equal(stage_job(s, 1).pri, 3);
    act_drain(w, "2 1");
}

static void delayed_job_is_ordered_by_its_submission(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .delay_for = SEC(5), .on_loss = ON_LOSS_BACK);
    PUT(s, .queue = "q");
    stage_advance(s, SEC(5));
    act_drain(w, "1 2");
}

static void kicked_job_keeps_its_place(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT_BURIED(s, .on_loss = ON_LOSS_BACK);
    PUT(s, .queue = "q");
    PUT(s, .delay_for = SEC(9), .on_loss = ON_LOSS_BACK);
    PUT(s, .queue = "q");
    assert_int_equal(stage_kick(s, "q", 1), 1);
    assert_status(STATUS_OK, stage_kick_id(s, 3));
    act_drain(w, "1 2 3 4");
}

static void lost_job_returns_to_the_front_or_goes_to_the_back(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *other = stage_worker(s, "other", "q");

    PUT(s, .on_loss = ON_LOSS_FRONT);
    PUT(s, .on_loss = ON_LOSS_BACK);
    PUT(s, .on_loss = ON_LOSS_FRONT);
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    act_close(w);
    stage_settle(s);
    act_drain(other, "1 3 2");
}

// A session that waits on both queues gets the better job, though the worse job is of the queue
// whose lease ends first; the other session gets the worse job.
static void best_of_all_queues_goes_first_when_a_session_leaves(void **state)
{
    struct stage *s = *state;

    for (int i = 0; i < 2; i++) {
        struct actor *holder = stage_worker(s, "holder", "a");
        struct actor *both, *one;
        uint64_t worse = PUT(s, .queue = "a", .pri = 9, .ttr_for = SEC(i ? 10 : 20));
        uint64_t better = PUT(s, .queue = "b", .pri = 1, .ttr_for = SEC(i ? 20 : 10));

        act_subscribe(holder, "b");
        assert_int_equal(act_take(holder), better);
        assert_int_equal(act_take(holder), worse);
        both = stage_worker(s, "both", "a");
        act_subscribe(both, "b");
        one = stage_worker(s, "one", "a");
        act_wait(both);
        act_wait(one);
        act_close(holder);
        stage_expect(s, i ? "both leased 4; one leased 3" : "both leased 2; one leased 1");
        act_complete(both, better, NULL);
        act_complete(one, worse, NULL);
        act_close(both);
        act_close(one);
    }
}

static void best_goes_first_when_jobs_are_given_back(void **state)
{
    struct stage *s = *state;
    struct actor *holder = stage_worker(s, "holder", "q");
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .pri = 1, .ttr_for = SEC(20));
    PUT(s, .pri = 9, .ttr_for = SEC(10));
    assert_int_equal(act_take(holder), 1);
    assert_int_equal(act_take(holder), 2);
    act_wait(w);
    act_give_back(holder, "q");
    stage_expect(s, "w leased 1");
}

static void expired_job_returns_to_the_front_or_goes_to_the_back(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(10), .on_loss = ON_LOSS_FRONT);
    PUT(s, .ttr_for = SEC(10), .on_loss = ON_LOSS_BACK);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    stage_advance(s, SEC(10));
    act_drain(w, "1 3 2");
}

static void job_at_the_back_keeps_that_place_from_then_on(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(10), .on_loss = ON_LOSS_BACK);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(10));
    PUT(s, .queue = "q");
    assert_status(STATUS_OK, act_take_id(w, 1));
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    act_drain(w, "2 1 3");
}

static void back_means_behind_equals_only(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .pri = 1, .ttr_for = SEC(1), .on_loss = ON_LOSS_BACK);
    PUT(s, .pri = 1);
    PUT(s, .pri = 2);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    act_drain(w, "2 1 3");
}

static void bury_changes_the_priority(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .pri = 1);
    PUT(s, .pri = 2);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_bury(w, 1, 9));
    assert_int_equal(stage_job(s, 1).pri, 9);
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    assert_int_equal(stage_job(s, 1).pri, 9);
    act_drain(w, "2 1");
}

static void oldest_chooses_by_job_and_not_by_queue(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    act_subscribe(w, "b");
    act_subscribe(w, "a");
    PUT(s, .queue = "a", .pri = 5);
    PUT(s, .queue = "a", .pri = 5);
    PUT(s, .queue = "b", .pri = 5);
    PUT(s, .queue = "a", .pri = 5);
    PUT(s, .queue = "b", .pri = 1);
    PUT(s, .queue = "c", .pri = 0); // not subscribed to
    act_drain(w, "5 1 2 3 4");
}

static void in_turn_serves_the_queue_that_was_subscribed_to_last_first(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open_in_turn(s, "w");

    act_subscribe(w, "b");
    act_subscribe(w, "c");
    act_subscribe(w, "a");
    PUT(s, .queue = "a");
    PUT(s, .queue = "a");
    PUT(s, .queue = "b");
    PUT(s, .queue = "b");
    PUT(s, .queue = "c");
    PUT(s, .queue = "b");
    act_drain(w, "1 5 3 2 4 6");
}

static void in_turn_still_puts_urgency_first(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open_in_turn(s, "w");

    act_subscribe(w, "a");
    act_subscribe(w, "b");
    PUT(s, .queue = "a", .pri = 2);
    PUT(s, .queue = "b", .pri = 2);
    PUT(s, .queue = "b", .pri = 1);
    PUT(s, .queue = "b", .pri = 1);
    act_drain(w, "3 4 1 2");
}

static void in_turn_remembers_whom_it_was_served_from_least_recently(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open_in_turn(s, "w");

    act_subscribe(w, "a");
    act_subscribe(w, "b");
    act_subscribe(w, "c");
    PUT(s, .queue = "b");
    act_drain(w, "1");
    PUT(s, .queue = "a");
    act_drain(w, "2");
    PUT(s, .queue = "a");
    PUT(s, .queue = "b");
    PUT(s, .queue = "c");
    act_drain(w, "5 4 3");
}

static void in_turn_puts_a_new_queue_before_all_others(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open_in_turn(s, "w");

    act_subscribe(w, "a");
    act_subscribe(w, "b");
    for (int i = 0; i < 2; i++) {
        PUT(s, .queue = "a");
        PUT(s, .queue = "b");
        PUT(s, .queue = "c");
    }
    assert_int_equal(act_take(w), 2);
    act_subscribe(w, "c");
    act_drain(w, "3 1 5 6 4");
}

static void in_turn_subscribing_again_changes_no_turn(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open_in_turn(s, "w");

    act_subscribe(w, "a");
    act_subscribe(w, "b");
    act_subscribe_on(w, "a", SEC(1), ON_LIMIT_RETRY);
    PUT(s, .queue = "a");
    PUT(s, .queue = "b");
    act_drain(w, "2 1");
}

static void in_turn_counts_assigned_jobs(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open_in_turn(s, "w");

    act_subscribe(w, "a");
    act_subscribe(w, "b");
    act_wait(w);
    PUT(s, .queue = "a");
    stage_expect(s, "w leased 1");
    PUT(s, .queue = "a");
    PUT(s, .queue = "b");
    act_drain(w, "3 2");
}

static void each_session_has_its_own_turn(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_open_in_turn(s, "v");
    struct actor *w = stage_open_in_turn(s, "w");

    act_subscribe(v, "a");
    act_subscribe(v, "b");
    act_subscribe(w, "a");
    act_subscribe(w, "b");
    PUT(s, .queue = "b");
    PUT(s, .queue = "b");
    PUT(s, .queue = "a");
    assert_int_equal(act_take(v), 1);
    assert_int_equal(act_take(w), 2);
    assert_int_equal(act_take(v), 3);
}

static void bands_are_read_back_from_numbers(void **state)
{
    (void)state;
    assert_int_equal(band_of(0), BAND_HIGH);
    assert_int_equal(band_of(PRI_HIGH), BAND_HIGH);
    assert_int_equal(band_of(1023), BAND_HIGH);
    assert_int_equal(band_of(1024), BAND_NORMAL);
    assert_int_equal(band_of(PRI_NORMAL), BAND_NORMAL);
    assert_int_equal(band_of(UINT32_C(0x7fffffff)), BAND_NORMAL);
    assert_int_equal(band_of(UINT32_C(0x80000000)), BAND_LOW);
    assert_int_equal(band_of(PRI_LOW), BAND_LOW);
    assert_int_equal(band_of(UINT32_MAX), BAND_LOW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(lowest_priority_number_is_taken_first),
        STORY(equals_are_taken_in_order_of_submission),
        STORY(released_job_keeps_its_place),
        STORY(job_handed_straight_to_a_waiter_has_its_place_all_the_same),
        STORY(release_changes_the_priority),
        STORY(delayed_job_is_ordered_by_its_submission),
        STORY(kicked_job_keeps_its_place),
        STORY(lost_job_returns_to_the_front_or_goes_to_the_back),
        STORY(best_of_all_queues_goes_first_when_a_session_leaves),
        STORY(best_goes_first_when_jobs_are_given_back),
        STORY(expired_job_returns_to_the_front_or_goes_to_the_back),
        STORY(job_at_the_back_keeps_that_place_from_then_on),
        STORY(back_means_behind_equals_only),
        STORY(bury_changes_the_priority),
        STORY(oldest_chooses_by_job_and_not_by_queue),
        STORY(in_turn_serves_the_queue_that_was_subscribed_to_last_first),
        STORY(in_turn_still_puts_urgency_first),
        STORY(in_turn_remembers_whom_it_was_served_from_least_recently),
        STORY(in_turn_puts_a_new_queue_before_all_others),
        STORY(in_turn_subscribing_again_changes_no_turn),
        STORY(in_turn_counts_assigned_jobs),
        STORY(each_session_has_its_own_turn),
        cmocka_unit_test(bands_are_read_back_from_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
