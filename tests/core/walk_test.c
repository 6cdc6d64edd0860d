/* SPDX-License-Identifier: MIT */
// The walk over all jobs: it goes on while jobs come and go.
#include "tests/core/stage.h"

#include <stdlib.h>

enum { MANY = 20000 };

// Asserts that a walk, done at one go, sees `count` jobs, in few steps.
static void expect_walk(struct stage *s, size_t count)
{
    struct job_walk walk = {0};
    const struct job *job = NULL;
    enum status status;
    size_t seen = 0;
    size_t steps = 0;

    while ((status = broker_job_next(s->broker, &walk, &job)) != STATUS_EMPTY) {
        if (status == STATUS_OK) {
            assert_ptr_equal(broker_find(s->broker, job_id(job)), job);
            seen++;
        } else {
            assert_status(STATUS_MORE, status);
        }
        steps++;
    }
    assert_status(STATUS_EMPTY, broker_job_next(s->broker, &walk, &job));
    assert_int_equal(seen, count);
    assert_true(steps <= 4 * count + 32);
}

static void walk_of_an_empty_broker_is_over_at_once(void **state)
{
    struct job_walk walk = {0};
    const struct job *job = NULL;
    struct stage *s = *state;

    assert_status(STATUS_EMPTY, broker_job_next(s->broker, &walk, &job));
    assert_status(STATUS_EMPTY, broker_job_next(s->broker, &walk, &job));
    assert_null(job);
}

static void walk_sees_jobs_of_all_states_and_queues(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "a");

    PUT(s, .queue = "a");
    PUT(s, .queue = "b");
    PUT(s, .queue = "c", .delay_for = SEC(1));
    PUT_BURIED(s, .queue = "d");
    assert_int_equal(act_take(w), 1);
    expect_walk(s, 4);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    expect_walk(s, 3);
}

// A broker with jobs 1 to MANY, without the checks of each step.
static struct stage *crowded(struct queue **queue)
{
    struct stage *s = stage_new((struct broker_options){0}, false);

    assert_status(STATUS_OK, broker_queue_hold(s->broker, SLICE("q"), queue));
    for (int i = 0; i < MANY; i++) {
        struct job_spec spec = {.queue = *queue, .durable = true};
        struct submission submission;

        assert_status(STATUS_OK, broker_submit(s->broker, &spec, NULL, &submission));
    }
    return s;
}

static void leave(struct stage *s, struct queue *queue)
{
    broker_queue_drop(s->broker, queue);
    stage_free(s);
}

static void walk_takes_few_steps_for_each_job(void **state)
{
    struct queue *queue;
    struct stage *s = crowded(&queue);

    (void)state;
    expect_walk(s, MANY);
    // Many are gone: what is left is not looked for among the places of the others.
    for (uint64_t id = 1; id <= MANY; id++) {
        if (id % 100) {
            assert_status(STATUS_OK, broker_cancel(s->broker, NULL, id, false));
        }
    }
    expect_walk(s, MANY / 100);
    leave(s, queue);
}

// Between the steps of a walk, one in `stays` of the jobs is left alone and the others are taken
// back, or new ones are added.
static void walk_while(struct stage *s, struct queue *queue, uint64_t stays, bool growing)
{
    uint8_t *seen = calloc(4 * MANY, 1);
    struct job_walk walk = {0};
    const struct job *job = NULL;
    enum status status;
    uint64_t id = 1;

    assert_non_null(seen);
    while ((status = broker_job_next(s->broker, &walk, &job)) != STATUS_EMPTY) {
        struct job_spec spec = {.queue = queue, .durable = true};
        struct submission submission;

        if (status == STATUS_OK) {
            assert_int_equal(seen[job_id(job)]++, 0);
        }
        if (growing && broker_find(s->broker, 3 * MANY) == NULL) {
            assert_status(STATUS_OK, broker_submit(s->broker, &spec, NULL, &submission));
        } else if (!growing && id <= MANY && id++ % stays) {
            assert_status(STATUS_OK, broker_cancel(s->broker, NULL, id - 1, false));
        }
    }
    for (id = 1; id <= MANY; id++) {
        assert_true(seen[id] == 1 || (!growing && id % stays));
    }
    free(seen);
}

static void walk_sees_each_that_stays_while_jobs_come(void **state)
{
    struct queue *queue;
    struct stage *s = crowded(&queue);

    (void)state;
    walk_while(s, queue, 1, true);
    leave(s, queue);
}

static void walk_sees_each_that_stays_while_jobs_go(void **state)
{
    (void)state;
    for (uint64_t stays = 2; stays <= 64; stays *= 2) {
        struct queue *queue;
        struct stage *s = crowded(&queue);

        walk_while(s, queue, stays, false);
        leave(s, queue);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(walk_of_an_empty_broker_is_over_at_once),
        STORY(walk_sees_jobs_of_all_states_and_queues),
        cmocka_unit_test(walk_takes_few_steps_for_each_job),
        cmocka_unit_test(walk_sees_each_that_stays_while_jobs_come),
        cmocka_unit_test(walk_sees_each_that_stays_while_jobs_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
