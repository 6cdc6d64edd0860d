/* SPDX-License-Identifier: MIT */

// Each allocation that may fail fails once: every change is complete or not done at all.

#include "tests/schedule/story.h"

#include "tests/support/nth_alloc.h"

static void a_put_without_memory_changes_nothing(void **state)
{
    struct story *t = *state;
    struct schedule_spec spec = story_spec(SKETCH("@hourly", .body = "b"));
    struct error_text why;
    enum status status;
    size_t n = 0;

    do {
        size_t before = schedules_count(t->schedules);

        nth_alloc_fail(++n);
        status = schedules_put(t->schedules, &spec, &why);
        if (nth_alloc_count() >= n && status != STATUS_OK) {
            assert_int_equal(schedules_count(t->schedules), before);
        }
    } while (nth_alloc_count() >= n);
    nth_alloc_fail(0);
    assert_status(STATUS_OK, status);
    assert_in_range(n, 4, 20);
}

static void a_configuration_without_memory_is_refused(void **state)
{
    struct story *t = *state;
    struct schedule_spec spec = story_spec(SKETCH("@hourly"));
    struct error_text why;
    size_t n = 0;
    bool taken;

    do {
        nth_alloc_fail(++n);
        taken = schedules_adopt(t->schedules, &spec, 1, &why);
        assert_int_equal(schedules_count(t->schedules), taken);
    } while (nth_alloc_count() >= n);
    nth_alloc_fail(0);
    assert_true(taken);
    assert_in_range(n, 2, 20);
}

static void creating_schedules_can_fail_for_memory(void **state)
{
    struct story *t = *state;
    struct schedules *more;
    size_t n = 0;

    puts_schedule(t, "@hourly");
    do {
        nth_alloc_fail(++n);
        more = schedules_new(t->stage->broker, &story_zones);
        if (n > 1) {
            assert_non_null(more);
        } else {
            assert_null(more);
        }
        schedules_free(more);
    } while (nth_alloc_count() >= n);
    nth_alloc_fail(0);
}

// Works on a moment while all allocations from the n-th on fail.
static void job_comes_once_without_memory_from(size_t n)
{
    void *state = NULL;

    (void)story_setup(&state);
    struct story *t = state;
    puts_schedule(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    stage_advance(t->stage, moment("2023-11-14 23:00") - t->stage->now.wall);
    nth_alloc_fail_from(n);
    works(t);
    nth_alloc_fail(0);
    passes(t, SEC(3));
    does(t, "2023-11-14 23:00");
    restarts(t, SEC(1));
    passes(t, SEC(3));
    does(t, "");
    (void)story_teardown(&state);
}

static void a_moment_without_memory_happens_once_when_memory_is_free(void **state)
{
    (void)state;
    for (size_t n = 1; n < 16; n++) {
        job_comes_once_without_memory_from(n);
    }
}

// The memo about a moment could not be written, and then the schedule gets other moments: its last
// job is still known.
static void an_unsaved_decision_counts_when_moments_change(void **state)
{
    size_t fired = 0;

    (void)state;
    for (size_t n = 1; n < 16; n++) {
        void *own = NULL;

        (void)story_setup(&own);
        struct story *t = own;
        puts_schedule(t, "@hourly", .overlap = SCHEDULE_OVERLAP_SKIP);
        stage_advance(t->stage, moment("2023-11-14 23:00") - t->stage->now.wall);
        nth_alloc_fail_from(n);
        works(t);
        nth_alloc_fail(0);
        if (story_info(t, "n").outcome == SCHEDULE_FIRED) {
            fired++;
            puts_schedule(t, "* * * * *", .overlap = SCHEDULE_OVERLAP_SKIP);
            passes(t, SEC(120));
            stage_expect_jobs(t->stage, "q", 1, 0, 0, 0);
        }
        (void)story_teardown(&own);
    }
    assert_in_range(fired, 1, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALE(a_put_without_memory_changes_nothing),
        TALE(a_configuration_without_memory_is_refused),
        TALE(creating_schedules_can_fail_for_memory),
        cmocka_unit_test(a_moment_without_memory_happens_once_when_memory_is_free),
        cmocka_unit_test(an_unsaved_decision_counts_when_moments_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
