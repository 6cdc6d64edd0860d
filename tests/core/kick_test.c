/* SPDX-License-Identifier: MIT */
// Burying and kicking, and peeking at a queue.
#include "tests/core/stage.h"

static void buried_jobs_are_kicked_in_order_of_burial(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    for (int i = 0; i < 4; i++) {
        PUT(s, .queue = "q");
        assert_int_equal(act_take(w), i + 1);
    }
    assert_status(STATUS_OK, act_bury(w, 3, 9));
    assert_status(STATUS_OK, act_bury(w, 1, 0));
    assert_status(STATUS_OK, act_bury(w, 4, 5));
    assert_status(STATUS_OK, act_bury(w, 2, 0));
    assert_int_equal(job_id(queue_peek_buried(stage_find(s, "q"))), 3);
    assert_int_equal(stage_kick(s, "q", 1), 1);
    assert_int_equal(stage_state(s, 3), JOB_READY);
    assert_int_equal(stage_job(s, 3).kicks, 1);
    assert_int_equal(stage_kick(s, "q", 2), 2);
    assert_int_equal(stage_state(s, 2), JOB_BURIED);
    assert_int_equal(job_id(queue_peek_buried(stage_find(s, "q"))), 2);
    act_drain(w, "1 4 3");
}

static void only_buried_jobs_are_kicked_while_there_are_any(void **state)
{
    struct stage *s = *state;

    PUT(s, .delay_for = SEC(5));
    PUT_BURIED(s, .queue = "q");
    assert_int_equal(stage_kick(s, "q", 10), 1);
    stage_expect_jobs(s, "q", 1, 1, 0, 0);
    assert_int_equal(stage_kick(s, "q", 10), 1);
    stage_expect_jobs(s, "q", 2, 0, 0, 0);
    assert_int_equal(stage_kick(s, "q", 10), 0);
    assert_int_equal(stage_job(s, 1).kicks, 1);
}

static void delayed_jobs_are_kicked_soonest_first(void **state)
{
    struct stage *s = *state;

    PUT(s, .delay_for = SEC(30));
    PUT(s, .at = STAGE_WALL_AT + SEC(20));
    PUT(s, .delay_for = SEC(10));
    PUT(s, .at = STAGE_WALL_AT + SEC(40));
    assert_int_equal(job_id(queue_peek_delayed(s->broker, stage_find(s, "q"))), 3);
    for (uint64_t i = 0; i < 4; i++) {
        static const uint64_t order[] = {3, 2, 1, 4};
        const struct job *soonest = queue_peek_delayed(s->broker, stage_find(s, "q"));

        assert_int_equal(job_id(soonest), order[i]);
        assert_int_equal(stage_kick(s, "q", 1), 1);
        assert_int_equal(stage_state(s, order[i]), JOB_READY);
    }
    assert_null(queue_peek_delayed(s->broker, stage_find(s, "q")));
    stage_settle(s);
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

static void kick_without_jobs_does_nothing(void **state)
{
    struct stage *s = *state;

    PUT_BURIED(s, .queue = "q");
    assert_int_equal(stage_kick(s, "q", 0), 0);
    assert_int_equal(stage_state(s, 1), JOB_BURIED);
    assert_int_equal(stage_kick(s, "empty", 5), 0);
    assert_null(stage_find(s, "empty"));
}

static void one_job_is_kicked_by_id(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    assert_status(STATUS_NOT_FOUND, stage_kick_id(s, 1));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_NOT_FOUND, stage_kick_id(s, 1));
    assert_status(STATUS_NOT_FOUND, stage_kick_id(s, 77));
    assert_status(STATUS_OK, act_bury(w, 1, 0));
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(stage_job(s, 1).kicks, 1);
}

static void kick_of_many_is_made_in_slices(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "other");
    struct kick kick;
    struct queue *queue;
    uint32_t before = 0;
    unsigned slices = 1;

    for (int i = 0; i < 1000; i++) {
        PUT_BURIED(s, .queue = "q");
    }
    assert_status(STATUS_OK, broker_queue_hold(s->broker, SLICE("q"), &queue));
    assert_int_equal(STATUS_OK, broker_kick_begin(NULL, queue, 900, &kick));
    while (broker_kick(s->broker, queue, &kick) == STATUS_MORE) {
        assert_true(kick.kicked - before <= BROKER_SLICE);
        before = kick.kicked;
        slices++;
        // Other sessions are served between the slices.
        PUT(s, .queue = "other");
        assert_true(act_take(w) != 0);
    }
    assert_true(slices >= 4);
    assert_int_equal(kick.kicked, 900);
    stage_expect_jobs(s, "q", 900, 0, 0, 100);
    broker_queue_drop(s->broker, queue);
}

static void kick_in_slices_allows_for_verbs_in_between(void **state)
{
    struct stage *s = *state;
    struct kick kick;
    struct queue *queue;

    for (int i = 0; i < 600; i++) {
        PUT_BURIED(s, .queue = "q");
    }
    PUT(s, .delay_for = SEC(9));
    assert_status(STATUS_OK, broker_queue_hold(s->broker, SLICE("q"), &queue));
    assert_int_equal(STATUS_OK, broker_kick_begin(NULL, queue, UINT32_MAX, &kick));
    assert_status(STATUS_MORE, broker_kick(s->broker, queue, &kick));
    for (uint64_t id = 400; id <= 600; id++) {
        assert_status(STATUS_OK, stage_cancel(s, id));
    }
    while (broker_kick(s->broker, queue, &kick) == STATUS_MORE) {
    }
    // The first decision stays: buried jobs only.
    assert_int_equal(kick.kicked, 399);
    stage_expect_jobs(s, "q", 399, 1, 0, 0);
    broker_queue_drop(s->broker, queue);
    stage_step(s);
}

static void kicked_jobs_go_to_waiters(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");

    PUT_BURIED(s, .queue = "q");
    PUT_BURIED(s, .queue = "q");
    PUT_BURIED(s, .queue = "q");
    act_wait(w);
    act_wait(v);
    assert_int_equal(stage_kick(s, "q", 3), 3);
    stage_expect(s, "w leased 1; v leased 2");
}

static void peeks_show_the_best_of_each_state(void **state)
{
    struct stage *s = *state;
    struct queue *queue;

    PUT(s, .pri = 5);
    PUT(s, .pri = 3);
    PUT(s, .pri = 3);
    queue = stage_find(s, "q");
    assert_int_equal(job_id(queue_peek_ready(queue)), 2);
    assert_null(queue_peek_delayed(s->broker, queue));
    assert_null(queue_peek_buried(queue));
    PUT(s, .delay_for = SEC(1));
    for (uint64_t id = 1; id <= 3; id++) {
        assert_status(STATUS_OK, stage_cancel(s, id));
    }
    assert_null(queue_peek_ready(queue));
    assert_int_equal(job_id(queue_peek_delayed(s->broker, queue)), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(buried_jobs_are_kicked_in_order_of_burial),
        STORY(only_buried_jobs_are_kicked_while_there_are_any),
        STORY(delayed_jobs_are_kicked_soonest_first),
        STORY(kick_without_jobs_does_nothing),
        STORY(one_job_is_kicked_by_id),
        STORY(kick_of_many_is_made_in_slices),
        STORY(kick_in_slices_allows_for_verbs_in_between),
        STORY(kicked_jobs_go_to_waiters),
        STORY(peeks_show_the_best_of_each_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
