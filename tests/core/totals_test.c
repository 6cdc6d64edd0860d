/* SPDX-License-Identifier: MIT */
// The counters and times of the broker are the sums of those of all queues, also of freed ones.
#include "core/statistics.h"
#include "tests/core/stage.h"

#include <stdlib.h>

static uint64_t how_many(const struct histogram *spans)
{
    uint64_t count = 0;

    for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        count += spans->in[i];
    }
    return count;
}

static void work_one(struct stage *s, const char *queue, nsec_t wait_for, nsec_t run_for)
{
    struct actor *w = stage_worker(s, "w", queue);
    uint64_t id;

    PUT(s, .queue = queue);
    stage_advance(s, wait_for);
    id = act_take(w);
    assert_int_not_equal(id, 0);
    stage_advance(s, run_for);
    assert_status(STATUS_OK, act_complete(w, id, NULL));
    act_close(w);
}

static void times_of_freed_queues_count_for_the_broker(void **state)
{
    struct stage *s = *state;
    const struct queue_times *times = broker_times(s->broker);
    struct counts counts;

    broker_observe(s->broker, true);
    work_one(s, "gone", SEC(2), SEC(3));
    assert_null(broker_queue_find(s->broker, SLICE("gone")));
    work_one(s, "gone_too", MSEC(500), MSEC(250));
    assert_int_equal(how_many(&times->wait), 2);
    // Waits are measured in whole steps of the clock.
    assert_true(times->wait.sum_us > 2497 * 1000);
    assert_true(times->wait.sum_us < 2503 * 1000);
    assert_int_equal(how_many(&times->run), 2);
    assert_int_equal(times->run.sum_us, 3250 * 1000);
    broker_counts(s->broker, &counts);
    assert_int_equal(counts.completed, 2);
}

static void times_of_the_broker_are_in_the_same_buckets_as_those_of_the_queue(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "stays", "q");

    broker_observe(s->broker, true);
    work_one(s, "q", MSEC(7), SEC(11));
    work_one(s, "q", SEC(70), MSEC(1));
    assert_memory_equal(broker_times(s->broker),
                        queue_times(broker_queue_find(s->broker, SLICE("q"))),
                        sizeof(struct queue_times));
    act_close(w);
}

static void broker_that_does_not_observe_times_nothing(void **state)
{
    struct stage *s = *state;

    work_one(s, "q", SEC(2), SEC(3));
    assert_int_equal(how_many(&broker_times(s->broker)->wait), 0);
    assert_int_equal(how_many(&broker_times(s->broker)->run), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(times_of_freed_queues_count_for_the_broker),
        STORY(times_of_the_broker_are_in_the_same_buckets_as_those_of_the_queue),
        STORY(broker_that_does_not_observe_times_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
