/* SPDX-License-Identifier: MIT */
// Durations of waits and runs, counted while the host observes.
#include "tests/core/stage.h"
#include "tests/support/nth_alloc.h"

#include "core/base/memory.h"

static const struct queue_times *times_of(struct stage *s)
{
    const struct queue *queue = stage_find(s, "q");

    assert_non_null(queue);
    return queue_times(queue);
}

static uint64_t counted(const struct histogram *spans)
{
    uint64_t count = 0;

    for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        count += spans->in[i];
    }
    return count;
}

// The bucket of the only duration in the histogram.
static size_t only_bucket(const struct histogram *spans)
{
    size_t bucket = 0;

    assert_int_equal(counted(spans), 1);
    while (spans->in[bucket] == 0) {
        bucket++;
    }
    return bucket;
}

// A worker on "q", while the host observes.
static struct actor *observed(struct stage *s)
{
    broker_observe(s->broker, true);
    return stage_worker(s, "w", "q");
}

static void durations_are_counted_only_while_observed(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_null(times_of(s));
}

static void bounds_rise_twice_for_each_doubling(void **state)
{
    (void)state;
    assert_int_equal(histogram_bound(0), 100000);
    assert_int_equal(histogram_bound(1), 150000);
    assert_int_equal(histogram_bound(2), 200000);
    assert_int_equal(histogram_bound(3), 300000);
    for (size_t i = 2; i < HISTOGRAM_BOUNDS; i++) {
        assert_int_equal(histogram_bound(i), 2 * histogram_bound(i - 2));
    }
    assert_true(histogram_bound(HISTOGRAM_BOUNDS - 1) > SEC(9) * 86400);
    assert_true(histogram_bound(HISTOGRAM_BOUNDS) == NSEC_NEVER);
    assert_true(sizeof(struct queue_times) <= 2048);
}

// Runs as long as each bound, and 1 ns longer.
static void duration_is_counted_in_the_bucket_of_its_bound(void **state)
{
    struct stage *s = *state;
    struct actor *w = observed(s);

    for (size_t i = 0; i < HISTOGRAM_BOUNDS; i++) {
        for (size_t beyond = 0; beyond < 2; beyond++) {
            uint64_t id = PUT(s, .ttr_for = SEC(20) * 86400);
            uint64_t before;

            assert_int_equal(act_take(w), id);
            before = times_of(s)->run.in[i + beyond];
            stage_advance(s, histogram_bound(i) + (nsec_t)beyond);
            assert_status(STATUS_OK, act_complete(w, id, NULL));
            assert_int_equal(times_of(s)->run.in[i + beyond], before + 1);
        }
    }
    assert_int_equal(counted(&times_of(s)->run), 2 * HISTOGRAM_BOUNDS);
}

static void wait_lasts_from_ready_to_reserved(void **state)
{
    struct stage *s = *state;
    struct actor *w = observed(s);

    PUT(s, .delay_for = SEC(3));
    stage_advance(s, SEC(3));
    stage_advance(s, SEC(2));
    assert_int_equal(act_take(w), 1);
    assert_int_equal(only_bucket(&times_of(s)->wait), 29); // above 1.6384 s, at most 2.4576 s
    assert_true(times_of(s)->wait.sum_us > 1998 * 1000);
    assert_true(times_of(s)->wait.sum_us < 2002 * 1000);
}

static void job_that_a_worker_waited_for_has_not_waited(void **state)
{
    struct stage *s = *state;
    struct actor *w = observed(s);

    act_wait(w);
    stage_advance(s, SEC(5));
    PUT(s, .queue = "q");
    stage_expect(s, "w leased 1");
    assert_int_equal(only_bucket(&times_of(s)->wait), 0);
    assert_int_equal(times_of(s)->wait.sum_us, 0);
}

static void buried_job_that_is_taken_by_its_id_has_no_wait(void **state)
{
    struct stage *s = *state;
    uint64_t id = PUT_BURIED(s, .queue = "q");
    struct actor *w = observed(s);

    assert_status(STATUS_OK, act_take_id(w, id));
    assert_null(times_of(s));
}

enum said { DONE, FAILED, BURIED };

static void say(struct actor *w, uint64_t id, enum said said)
{
    switch (said) {
    case DONE:
        assert_status(STATUS_OK, act_complete(w, id, NULL));
        break;
    case FAILED:
        assert_status(STATUS_OK, act_fail(w, id, NULL));
        break;
    case BURIED:
        assert_status(STATUS_OK, act_bury(w, id, 0));
        break;
    }
}

static void run_lasts_from_reserved_to_the_report_of_the_worker(void **state)
{
    struct stage *s = *state;
    struct actor *w = observed(s);

    for (int said = DONE; said <= BURIED; said++) {
        uint64_t id = PUT(s, .ttr_for = SEC(60));

        stage_advance(s, SEC(9));
        assert_int_equal(act_take(w), id);
        stage_advance(s, SEC(2));
        say(w, id, (enum said)said);
        assert_int_equal(times_of(s)->run.sum_us, 2 * 1000000 * (said + 1));
    }
}

static void run_of_a_renewed_lease_lasts_from_its_beginning(void **state)
{
    struct stage *s = *state;
    struct actor *w = observed(s);

    PUT(s, .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    for (int i = 0; i < 3; i++) {
        stage_advance(s, SEC(4));
        assert_status(STATUS_OK, act_touch(w, 1));
    }
    stage_advance(s, SEC(1));
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_int_equal(times_of(s)->run.sum_us, 13 * 1000000);
}

static void run_without_a_time_to_run_is_counted(void **state)
{
    struct stage *s = *state;
    struct actor *w = observed(s);

    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(3));
    assert_status(STATUS_OK, act_touch(w, 1));
    stage_advance(s, MSEC(7));
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_int_equal(times_of(s)->run.sum_us, 3007 * 1000);
}

static void run_of_a_limited_lease_is_counted_also_when_the_limit_is_taken_off(void **state)
{
    struct stage *s = *state;
    struct actor *w = observed(s);

    act_subscribe_on(w, "q", SEC(10), ON_LIMIT_RETRY);
    for (uint64_t id = 1; id <= 2; id++) {
        PUT(s, .ttr_for = SEC(60));
        assert_int_equal(act_take(w), id);
        stage_advance(s, SEC(3));
        if (id == 2) {
            act_end_limits(w);
        }
        stage_advance(s, SEC(3));
        assert_status(STATUS_OK, act_complete(w, id, NULL));
        assert_int_equal(times_of(s)->run.sum_us, 6 * 1000000 * id);
    }
}

static void second_lease_has_a_run_of_its_own(void **state)
{
    struct stage *s = *state;
    struct actor *w = observed(s);

    PUT(s, .ttr_for = SEC(60));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(7));
    assert_status(STATUS_OK, act_touch(w, 1));
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(2));
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_int_equal(times_of(s)->run.sum_us, 2 * 1000000);
    assert_int_equal(counted(&times_of(s)->wait), 2);
}

static void late_completion_has_no_run(void **state)
{
    struct stage *s = *state;
    struct actor *w = observed(s);

    PUT(s, .ttr_for = SEC(1));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(2));
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_int_equal(counted(&times_of(s)->run), 0);
}

static void lease_that_was_renewed_unobserved_has_no_run(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    for (uint64_t id = 1; id <= 2; id++) {
        PUT(s, .ttr_for = SEC(60));
        assert_int_equal(act_take(w), id);
    }
    stage_advance(s, SEC(1));
    assert_status(STATUS_OK, act_touch(w, 1));
    broker_observe(s->broker, true);
    stage_advance(s, SEC(1));
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_null(times_of(s));
    assert_status(STATUS_OK, act_complete(w, 2, NULL));
    assert_int_equal(times_of(s)->run.sum_us, 2 * 1000000);
}

static void job_tells_how_long_it_has_been_ready_or_held(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    nsec_t state_for = 0;

    PUT(s, .ttr_for = SEC(60));
    stage_advance(s, SEC(7));
    assert_true(job_state_for(s->broker, broker_find(s->broker, 1), &state_for));
    assert_true(state_for > SEC(7) - MSEC(2) && state_for < SEC(7) + MSEC(2));
    assert_int_equal(act_take(w), 1);
    assert_ptr_equal(job_holder(s->broker, broker_find(s->broker, 1)), w->session);
    stage_advance(s, SEC(3));
    assert_true(job_state_for(s->broker, broker_find(s->broker, 1), &state_for));
    assert_int_equal(state_for, SEC(3));
    assert_status(STATUS_OK, act_touch(w, 1));
    assert_false(job_state_for(s->broker, broker_find(s->broker, 1), &state_for));
    assert_status(STATUS_OK, act_bury(w, 1, 0));
    assert_false(job_state_for(s->broker, broker_find(s->broker, 1), &state_for));
    assert_null(job_holder(s->broker, broker_find(s->broker, 1)));
}

// Each allocation fails once: the job is still worked on, and later durations are counted.
static void without_memory_nothing_is_timed_and_nothing_else_changes(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 3; n++) {
        struct stage *s = stage_new((struct broker_options){0}, false);
        struct actor *w = observed(s);

        PUT(s, .queue = "q");
        nth_alloc_fail(n);
        assert_int_equal(act_take(w), 1);
        assert_status(STATUS_OK, act_touch(w, 1));
        assert_status(STATUS_OK, act_complete(w, 1, NULL));
        nth_alloc_fail(0);
        PUT(s, .queue = "q");
        assert_int_equal(act_take(w), 2);
        assert_status(STATUS_OK, act_complete(w, 2, NULL));
        assert_int_equal(counted(&times_of(s)->wait), n == 1 ? 1 : 2);
        assert_int_equal(counted(&times_of(s)->run), n == 2 ? 1 : 2);
        stage_free(s);
    }
}

static void short_memory_stops_the_counting_of_new_durations(void **state)
{
    struct stage *s = *state;
    struct actor *w = observed(s);

    PUT(s, .queue = "q");
    memory_set_limit(1);
    assert_true(memory_is_short());
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    memory_set_limit(0);
    assert_null(times_of(s));
}

static void durations_of_a_removed_queue_are_freed_though_a_snapshot_contains_it(void **state)
{
    struct stage *s = *state;
    struct actor *w = observed(s);
    struct queue_snapshot snapshot;

    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_non_null(times_of(s));
    queue_snapshot_begin(s->broker, &snapshot);
    act_unsubscribe(w, "q");
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_null(stage_find(s, "q"));
    queue_snapshot_end(s->broker, &snapshot);
    PUT(s, .queue = "q");
    assert_null(times_of(s));
}

static void runs_of_centuries_are_summed_up(void **state)
{
    struct stage *s = *state;
    struct actor *w = observed(s);

    for (uint64_t id = 1; id <= 5; id++) {
        PUT(s, .ttr_for = SEC(4200000000));
        assert_int_equal(act_take(w), id);
    }
    stage_advance(s, SEC(4100000000));
    for (uint64_t id = 1; id <= 5; id++) {
        assert_status(STATUS_OK, act_complete(w, id, NULL));
    }
    assert_true(times_of(s)->run.sum_us == 5 * UINT64_C(4100000000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(durations_are_counted_only_while_observed),
        cmocka_unit_test(bounds_rise_twice_for_each_doubling),
        STORY(duration_is_counted_in_the_bucket_of_its_bound),
        STORY(wait_lasts_from_ready_to_reserved),
        STORY(job_that_a_worker_waited_for_has_not_waited),
        STORY(buried_job_that_is_taken_by_its_id_has_no_wait),
        STORY(run_lasts_from_reserved_to_the_report_of_the_worker),
        STORY(run_of_a_renewed_lease_lasts_from_its_beginning),
        STORY(run_without_a_time_to_run_is_counted),
        STORY(run_of_a_limited_lease_is_counted_also_when_the_limit_is_taken_off),
        STORY(second_lease_has_a_run_of_its_own),
        STORY(late_completion_has_no_run),
        STORY(lease_that_was_renewed_unobserved_has_no_run),
        STORY(job_tells_how_long_it_has_been_ready_or_held),
        cmocka_unit_test(without_memory_nothing_is_timed_and_nothing_else_changes),
        STORY(short_memory_stops_the_counting_of_new_durations),
        STORY(durations_of_a_removed_queue_are_freed_though_a_snapshot_contains_it),
        STORY(runs_of_centuries_are_summed_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
