/* SPDX-License-Identifier: MIT */
// When memory is short: verbs that are refused, and verbs that go on.
#include "core/base/memory.h"
#include "tests/core/stage.h"

#include <stdio.h>

#define MIB ((size_t)1 << 20)

// Amounts of memory above the marks for new jobs, for new sessions, and above the limit.
enum { SHORT = 31, CROWDED = 32, OVER = 34 };

static size_t added;

static void fill(size_t mib)
{
    memory_uncount(added);
    added = 0;
    memory_set_limit(memory_counted() + 33 * MIB);
    added = mib * MIB;
    memory_count(added);
}

static int full_teardown(void **state)
{
    memory_uncount(added);
    added = 0;
    memory_set_limit(0);
    return stage_teardown(state);
}

static enum status submit(struct stage *s, const char *queue)
{
    struct job_spec spec = {.body = SLICE("x"), .ttr_for = SEC(1)};
    struct submission submission;

    return broker_submit_to(s->broker, stage_slice(queue), &spec, NULL, &submission);
}

static void new_work_is_refused_until_there_is_room_again(void **state)
{
    struct stage *s = *state;

    fill(SHORT);
    assert_status(STATUS_NO_MEMORY, submit(s, "q"));
    assert_null(broker_queue_find(s->broker, SLICE("q")));
    fill(0);
    assert_status(STATUS_OK, submit(s, "q"));
    stage_step(s);
}

static void joining_a_job_is_refused_too(void **state)
{
    struct stage *s = *state;
    struct job_spec spec = {.body = SLICE("x"), .key = SLICE("k"), .key_kind = KEY_NAME};
    struct submission submission;

    PUT(s, .key = "k");
    fill(SHORT);
    assert_status(STATUS_NO_MEMORY,
                  broker_submit_to(s->broker, SLICE("q"), &spec, NULL, &submission));
    stage_step(s);
}

static void new_queues_are_refused_but_existing_ones_are_held(void **state)
{
    struct stage *s = *state;
    struct queue *queue;

    PUT(s, .queue = "old");
    fill(SHORT);
    assert_status(STATUS_NO_MEMORY, broker_queue_hold(s->broker, SLICE("new"), &queue));
    assert_status(STATUS_OK, broker_queue_hold(s->broker, SLICE("old"), &queue));
    broker_queue_drop(s->broker, queue);
    stage_step(s);
}

static void workers_take_and_finish_beyond_the_limit(void **state)
{
    struct stage *s = *state;
    struct actor *w;

    PUT(s, .body = "a");
    PUT(s, .body = "b");
    fill(OVER);
    w = stage_worker(s, "w", "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "part"));
    assert_status(STATUS_OK, act_complete(w, 1, "result"));
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_release(w, 2, 0, 0));
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_complete(w, 2, "result"));
}

static void subscriptions_are_refused_last_and_a_few_never(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");
    const struct subscription_terms terms = {0};
    char name[16];
    int count = 0;

    fill(SHORT);
    for (; count < 20; count++) {
        (void)snprintf(name, sizeof name, "q%d", count);
        act_subscribe(w, name);
    }
    fill(CROWDED);
    assert_status(STATUS_NO_MEMORY, broker_subscribe(w->session, SLICE("more"), &terms));
    assert_status(STATUS_OK, broker_subscribe(w->session, SLICE("q0"), &terms));
    act_subscribe(stage_open(s, "v"), "more");
}

#define FULL(f) cmocka_unit_test_setup_teardown(f, stage_setup, full_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FULL(new_work_is_refused_until_there_is_room_again),
        FULL(joining_a_job_is_refused_too),
        FULL(new_queues_are_refused_but_existing_ones_are_held),
        FULL(workers_take_and_finish_beyond_the_limit),
        FULL(subscriptions_are_refused_last_and_a_few_never),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
