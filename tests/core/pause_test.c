/* SPDX-License-Identifier: MIT */
// A paused queue gives no jobs to sessions that take or wait; everything else continues.
#include "tests/core/stage_restart.h"

#include <stdlib.h>

static void nothing_is_taken_from_a_paused_queue(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_subscribe(w, "r");
    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(10)));
    assert_int_equal(act_take(w), 0);
    PUT(s, .queue = "q");
    PUT(s, .queue = "r");
    assert_int_equal(act_take(w), 3);
    assert_int_equal(act_take(w), 0);
    stage_advance(s, SEC(10) - 1);
    assert_int_equal(act_take(w), 0);
    stage_advance(s, 1);
    act_drain(w, "1 2");
}

static void pause_is_readable(void **state)
{
    struct stage *s = *state;

    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(10)));
    stage_advance(s, SEC(4));
    assert_int_equal(stage_queue(s, "q").pause_for, SEC(10));
    assert_int_equal(stage_queue(s, "q").pause_remaining_for, SEC(6));
    assert_int_equal(stage_queue(s, "q").pauses, 1);
    assert_int_equal(broker_next_due(s->broker), STAGE_MONO_AT + SEC(10));
    stage_advance(s, SEC(6));
    assert_int_equal(stage_queue(s, "q").pause_for, 0);
    assert_int_equal(stage_queue(s, "q").pause_remaining_for, 0);
    assert_int_equal(stage_queue(s, "q").pauses, 1);
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

static void another_pause_replaces_the_first(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(10)));
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(20)));
    assert_int_equal(stage_queue(s, "q").pauses, 2);
    stage_advance(s, SEC(10));
    assert_int_equal(act_take(w), 0);
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(1)));
    stage_advance(s, SEC(1));
    assert_int_equal(act_take(w), 1);
}

static void pause_of_length_zero_ends_a_pause(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(10)));
    act_wait(w);
    stage_expect(s, "");
    assert_status(STATUS_OK, stage_pause(s, "q", 0));
    stage_expect(s, "w leased 1");
    assert_int_equal(stage_queue(s, "q").pause_for, 0);
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
    stage_advance(s, SEC(10));
    stage_expect(s, "");
}

static void end_of_a_pause_serves_waiting_sessions_first(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *v = stage_worker(s, "v", "q");

    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(10)));
    act_wait(w);
    // Both verbs come before a settle.
    assert_status(STATUS_OK,
                  broker_pause(s->broker, NULL, broker_queue_find(s->broker, SLICE("q")), 0));
    assert_int_equal(act_take(v), 0);
    stage_expect(s, "w leased 1");
}

static void jobs_are_assigned_at_the_end_of_a_pause(void **state)
{
    struct stage *s = *state;
    struct actor *u = stage_worker(s, "u", "q");
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    assert_status(STATUS_OK, stage_pause(s, "q", SEC(10)));
    act_await_nudge(u);
    act_wait(w);
    act_wait(v);
    PUT(s, .pri = 9);
    PUT(s, .pri = 5);
    PUT(s, .pri = 7);
    stage_expect(s, "");
    stage_advance(s, SEC(10));
    stage_expect(s, "w leased 2; v leased 3; u nudged");
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void no_session_is_nudged_if_waiting_sessions_take_all(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    assert_status(STATUS_OK, stage_pause(s, "q", SEC(10)));
    act_await_nudge(v);
    act_wait(w);
    PUT(s, .queue = "q");
    stage_advance(s, SEC(10));
    stage_expect(s, "w leased 1");
    assert_int_equal(stage_queue(s, "q").waiting, 1);
}

static void paused_queue_nudges_no_session(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "r");
    assert_status(STATUS_OK, stage_pause(s, "r", SEC(10)));
    act_await_nudge(w);
    act_subscribe(w, "r");
    stage_expect(s, "");
    stage_advance(s, SEC(10));
    stage_expect(s, "w nudged");
}

static void taking_by_id_and_peeking_ignore_a_pause(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(10)));
    assert_int_equal(job_id(queue_peek_ready(stage_find(s, "q"))), 1);
    assert_status(STATUS_OK, act_take_id(w, 1));
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    assert_int_equal(act_take(w), 0);
}

static void time_runs_for_the_jobs_of_a_paused_queue(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(2));
    PUT(s, .delay_for = SEC(3));
    PUT_BURIED(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(10)));
    stage_advance(s, SEC(3));
    assert_int_equal(stage_kick(s, "q", 1), 1);
    stage_expect_jobs(s, "q", 3, 0, 0, 0);
    assert_int_equal(act_take(w), 0);
    stage_advance(s, SEC(7));
    act_drain(w, "1 2 3");
}

static void waits_end_by_time_beside_a_paused_queue(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(5));
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(10)));
    assert_status(STATUS_OK, act_wait_until(w, s->now.mono + SEC(2), SEC(1)));
    stage_advance(s, SEC(2));
    stage_expect(s, "w timed_out");
    assert_status(STATUS_OK, act_wait_until(w, NSEC_NEVER, SEC(1)));
    stage_advance(s, SEC(2));
    stage_expect(s, "w lease_soon");
}

static void pause_outlives_the_last_job_of_its_queue(void **state)
{
    struct stage *s = *state;
    struct actor *w;

    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(10)));
    assert_status(STATUS_OK, stage_cancel(s, 1));
    assert_int_equal(stage_queue(s, "q").pause_remaining_for, SEC(10));
    w = stage_worker(s, "w", "q");
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 0);
    act_wait(w);
    stage_advance(s, SEC(10));
    stage_expect(s, "w leased 2");
}

static void empty_paused_queue_is_removed_with_its_pause(void **state)
{
    struct stage *s = *state;
    struct queue *queue;

    for (int resumed = 0; resumed < 2; resumed++) {
        assert_status(STATUS_OK, broker_queue_hold(s->broker, SLICE("q"), &queue));
        assert_status(STATUS_OK, broker_pause(s->broker, NULL, queue, SEC(10)));
        broker_queue_drop(s->broker, queue);
        stage_step(s);
        assert_int_equal(stage_queue(s, "q").pause_remaining_for, SEC(10));
        if (resumed) {
            assert_status(STATUS_OK, stage_pause(s, "q", 0));
        } else {
            stage_advance(s, SEC(10));
        }
        assert_null(stage_find(s, "q"));
    }
    stage_settle(s);
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

static void several_pauses_end_each_at_its_moment(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    act_subscribe(w, "a");
    act_subscribe(w, "b");
    act_subscribe(w, "c");
    PUT(s, .queue = "a");
    PUT(s, .queue = "b");
    PUT(s, .queue = "c");
    assert_status(STATUS_OK, stage_pause(s, "a", SEC(30)));
    assert_status(STATUS_OK, stage_pause(s, "b", SEC(10)));
    assert_status(STATUS_OK, stage_pause(s, "c", SEC(20)));
    act_wait(w);
    stage_advance_to_due(s);
    stage_expect(s, "w leased 2");
    act_wait(w);
    stage_advance_to_due(s);
    stage_expect(s, "w leased 3");
    act_wait(w);
    stage_advance_to_due(s);
    stage_expect(s, "w leased 1");
    assert_int_equal(s->now.mono, STAGE_MONO_AT + SEC(30));
}

static void pause_outlives_the_last_worker_of_its_queue(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    assert_status(STATUS_OK, stage_pause(s, "q", SEC(60)));
    act_close(w);
    stage_settle(s);
    stage_expect_recorded(s, "pause q");
    assert_int_equal(stage_queue(s, "q").pause_remaining_for, SEC(60));
    stage_advance(s, SEC(60));
    assert_null(stage_find(s, "q"));
    stage_expect_recorded(s, "");
}

// A stage with the tape as its store.
static struct stage *taped(struct stage_tape *tape)
{
    const struct broker_options options = {.recorder = &stage_tape_recorder, .store = tape};
    struct stage *s = stage_new(options, false);

    tape->broker = s->broker;
    tape->now = &s->now;
    return s;
}

static void pause_of_an_empty_queue_outlives_a_restart(void **state)
{
    struct stage_tape *tape = calloc(1, sizeof *tape);
    struct stage *s = taped(tape);
    struct actor *w = stage_worker(s, "w", "q");
    struct stage *again;

    (void)state;
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(60)));
    act_close(w);
    stage_settle(s);
    again = stage_tape_play(tape, s->now.wall);
    assert_int_equal(stage_queue(again, "q").pause_remaining_for, SEC(60));
    PUT(again, .queue = "q");
    assert_int_equal(act_take(stage_worker(again, "w", "q")), 0);
    stage_free(again);
    assert_status(STATUS_OK, stage_pause(s, "q", 0));
    again = stage_tape_play(tape, s->now.wall);
    assert_null(stage_find(again, "q"));
    stage_free(again);
    stage_free(s);
    free(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(nothing_is_taken_from_a_paused_queue),
        STORY(pause_is_readable),
        STORY(another_pause_replaces_the_first),
        STORY(pause_of_length_zero_ends_a_pause),
        STORY(end_of_a_pause_serves_waiting_sessions_first),
        STORY(jobs_are_assigned_at_the_end_of_a_pause),
        STORY(no_session_is_nudged_if_waiting_sessions_take_all),
        STORY(paused_queue_nudges_no_session),
        STORY(taking_by_id_and_peeking_ignore_a_pause),
        STORY(time_runs_for_the_jobs_of_a_paused_queue),
        STORY(waits_end_by_time_beside_a_paused_queue),
        STORY(pause_outlives_the_last_job_of_its_queue),
        STORY(empty_paused_queue_is_removed_with_its_pause),
        STORY(several_pauses_end_each_at_its_moment),
        STORY(pause_outlives_the_last_worker_of_its_queue),
        STORY(pause_of_an_empty_queue_outlives_a_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
