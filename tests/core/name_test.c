/* SPDX-License-Identifier: MIT */
// Names looked up without a queue: of several jobs that hold one, the first is found.
#include "tests/core/stage.h"

#include <stdio.h>

enum { MANY = 20000 };

static uint64_t find(struct stage *s, const char *name)
{
    const struct job *job = broker_find_name(s->broker, stage_slice(name));

    return job ? job_id(job) : 0;
}

static void name_is_found_in_any_queue(void **state)
{
    struct stage *s = *state;

    assert_int_equal(find(s, "k"), 0);
    PUT(s, .queue = "a", .key = "k");
    PUT(s, .queue = "b", .key = "l");
    assert_int_equal(find(s, "k"), 1);
    assert_int_equal(find(s, "l"), 2);
    assert_int_equal(find(s, "m"), 0);
}

static void name_is_found_in_any_state_but_buried(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    PUT(s, .key = "k", .delay_for = SEC(5));
    assert_int_equal(find(s, "k"), 1);
    stage_advance(s, SEC(5));
    assert_int_equal(find(s, "k"), 1);
    assert_status(STATUS_OK, act_take_id(w, 1));
    assert_int_equal(find(s, "k"), 1);
    assert_status(STATUS_OK, act_bury(w, 1, 0));
    assert_int_equal(find(s, "k"), 0);
}

static void only_names_are_found(void **state)
{
    struct stage *s = *state;

    PUT(s, .by_content = true, .body = "k");
    PUT(s, .body = "k", .reducer = "k");
    assert_int_equal(find(s, "k"), 0);
    assert_int_equal(find(s, NULL), 0);
    assert_int_equal(find(s, ""), 0);
}

static void all_jobs_that_hold_a_name_are_found_one_by_one(void **state)
{
    struct stage *s = *state;
    const struct job *job;

    PUT(s, .queue = "a", .key = "k");
    assert_null(job_next_of_name(broker_find_name(s->broker, SLICE("k"))));
    PUT(s, .queue = "b", .key = "k");
    PUT(s, .queue = "c", .key = "k");
    assert_status(STATUS_OK, stage_cancel(s, 1));
    PUT(s, .queue = "a", .key = "k");
    PUT(s, .queue = "a");
    job = broker_find_name(s->broker, SLICE("k"));
    assert_int_equal(job_id(job), 2);
    job = job_next_of_name(job);
    assert_int_equal(job_id(job), 3);
    job = job_next_of_name(job);
    assert_int_equal(job_id(job), 4);
    assert_null(job_next_of_name(job));
    assert_null(job_next_of_name(broker_find(s->broker, 5)));
}

static void of_several_the_first_is_found_and_then_the_next(void **state)
{
    struct stage *s = *state;

    PUT(s, .queue = "a", .key = "k");
    PUT(s, .queue = "b", .key = "k");
    PUT(s, .queue = "c", .key = "k");
    PUT(s, .queue = "d", .key = "k");
    assert_int_equal(find(s, "k"), 1);
    assert_status(STATUS_OK, stage_cancel(s, 2));
    assert_int_equal(find(s, "k"), 1);
    assert_status(STATUS_OK, stage_cancel(s, 1));
    assert_int_equal(find(s, "k"), 3);
    PUT(s, .queue = "a", .key = "k");
    assert_status(STATUS_OK, stage_cancel(s, 3));
    assert_int_equal(find(s, "k"), 4);
    assert_status(STATUS_OK, stage_cancel(s, 4));
    assert_int_equal(find(s, "k"), 5);
    assert_status(STATUS_OK, stage_cancel(s, 5));
    assert_int_equal(find(s, "k"), 0);
}

static void name_that_a_kick_gives_back_comes_last(void **state)
{
    struct stage *s = *state;

    PUT_BURIED(s, .queue = "a", .key = "k");
    PUT(s, .queue = "b", .key = "k");
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    assert_int_equal(find(s, "k"), 2);
    assert_status(STATUS_OK, stage_cancel(s, 2));
    assert_int_equal(find(s, "k"), 1);
}

static void buried_job_leaves_the_name_to_the_next(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    PUT(s, .queue = "a", .key = "k");
    PUT(s, .queue = "b", .key = "k");
    assert_status(STATUS_OK, act_take_id(w, 1));
    assert_status(STATUS_OK, act_bury(w, 1, 0));
    assert_int_equal(find(s, "k"), 2);
    assert_status(STATUS_OK, act_take_id(w, 1));
    assert_int_equal(find(s, "k"), 2);
}

static void thousands_of_queues_may_hold_one_name(void **state)
{
    struct stage *s = stage_new((struct broker_options){0}, false);
    struct job_spec spec = {.key_kind = KEY_NAME, .key = SLICE("k"), .durable = true};
    uint64_t last = 0;

    (void)state;
    // The checks of each step are omitted here: they would walk all jobs each time.
    for (int i = 0; i < MANY; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "q%d", i);
        struct submission submission;

        assert_status(STATUS_OK,
                      broker_queue_hold(s->broker, slice_of(name, (size_t)len), &spec.queue));
        assert_status(STATUS_OK, broker_submit(s->broker, &spec, NULL, &submission));
        broker_queue_drop(s->broker, spec.queue);
        assert_int_equal(find(s, "k"), 1);
        last = submission.id;
    }
    stage_step(s);
    // From both ends at once: the first of the remaining jobs is always found.
    for (uint64_t id = 1; id < last; id++, last--) {
        assert_int_equal(find(s, "k"), id);
        assert_status(STATUS_OK, broker_cancel(s->broker, NULL, id, false));
        assert_status(STATUS_OK, broker_cancel(s->broker, NULL, last, false));
    }
    assert_int_equal(find(s, "k"), 0);
    stage_free(s);
}

static void hundred_thousand_names_are_distinguished(void **state)
{
    struct stage *s = stage_new((struct broker_options){.secret = 7}, false);
    struct job_spec spec = {.key_kind = KEY_NAME, .durable = true};
    char name[16];

    (void)state;
    assert_status(STATUS_OK, broker_queue_hold(s->broker, SLICE("q"), &spec.queue));
    for (uint64_t i = 1; i <= 5 * MANY; i++) {
        struct submission submission;

        spec.key = slice_of(name, (size_t)snprintf(name, sizeof name, "%d", (int)i));
        assert_status(STATUS_OK, broker_submit(s->broker, &spec, NULL, &submission));
        assert_int_equal(submission.id, i);
    }
    for (uint64_t i = 1; i <= 5 * MANY; i += 3) {
        assert_status(STATUS_OK, broker_cancel(s->broker, NULL, i, false));
    }
    for (uint64_t i = 1; i <= 5 * MANY; i++) {
        (void)snprintf(name, sizeof name, "%d", (int)i);
        assert_int_equal(find(s, name), i % 3 == 1 ? 0 : i);
    }
    broker_queue_drop(s->broker, spec.queue);
    stage_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(name_is_found_in_any_queue),
        STORY(name_is_found_in_any_state_but_buried),
        STORY(only_names_are_found),
        STORY(all_jobs_that_hold_a_name_are_found_one_by_one),
        STORY(of_several_the_first_is_found_and_then_the_next),
        STORY(name_that_a_kick_gives_back_comes_last),
        STORY(buried_job_leaves_the_name_to_the_next),
        cmocka_unit_test(thousands_of_queues_may_hold_one_name),
        cmocka_unit_test(hundred_thousand_names_are_distinguished),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
