/* SPDX-License-Identifier: MIT */

// The outcome of moments: fired, missed, overlapped, refused.

#include "tests/schedule/story.h"

#define DAY SEC(86400)
#define HOUR SEC(3600)
#define MINUTE SEC(60)

static void each_moment_submits_a_job(void **state)
{
    struct story *t = *state;
    struct schedule_info info;

    has_in_file(t, "30 * * * *", .body = "hello", .pri = 7, .ttr_for = SEC(90));
    info = story_info(t, "n");
    assert_int_equal(info.next_at, moment("2023-11-14 22:30"));
    assert_int_equal(info.fired_at, 0);
    assert_int_equal(info.outcome, SCHEDULE_NOTHING);
    passes_until(t, "2023-11-14 22:29:59");
    does(t, "");
    passes(t, SEC(1));
    stage_expect_jobs(t->stage, "q", 1, 0, 0, 0);
    info = story_info(t, "n");
    assert_int_equal(info.outcome, SCHEDULE_FIRED);
    assert_int_equal(info.fired_at, moment("2023-11-14 22:30"));
    assert_int_equal(info.next_at, moment("2023-11-14 23:30"));
    struct job_info job = stage_job(t->stage, info.job_id);
    assert_int_equal(job.pri, 7);
    assert_int_equal(job.ttr_for, SEC(90));
    assert_true(slice_equal(job.key, SLICE("n@2023-11-14T22:30:00Z")));
    assert_true(slice_equal(job_body(broker_find(t->stage->broker, info.job_id)), SLICE("hello")));
    passes(t, 2 * HOUR);
    does(t, "2023-11-14 22:30,2023-11-14 23:30,2023-11-15 00:30");
    counts_are(t, "fired 3");
}

static void no_work_is_due_for_a_schedule_without_moments(void **state)
{
    struct story *t = *state;

    assert_int_equal(schedules_due(t->schedules), NSEC_NEVER);
    has_in_file(t, "@daily");
    works(t);
    // Because the wall clock may be set.
    assert_int_equal(schedules_due(t->schedules), t->stage->now.mono + SEC(1));
    has_nothing_in_file(t);
    assert_int_equal(schedules_due(t->schedules), NSEC_NEVER);
}

static void many_schedules_of_one_moment_take_several_slices(void **state)
{
    struct story *t = *state;
    char name[16];
    int slices = 0;

    for (int i = 0; i < 40; i++) {
        (void)snprintf(name, sizeof name, "s%d", i);
        puts_schedule(t, "@hourly", .name = name);
    }
    stage_advance(t->stage, moment("2023-11-14 23:00") - t->stage->now.wall);
    for (; schedules_due(t->schedules) <= t->stage->now.mono; slices++) {
        schedules_work(t->schedules);
    }
    assert_int_equal(slices, 3);
    stage_expect_jobs(t->stage, "q", 40, 0, 0, 0);
}

static void missed_moments_are_skipped(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_SKIP);
    clock_steps(t, DAY);
    does(t, "");
    counts_are(t, "missed 1");
    assert_int_equal(story_info(t, "n").outcome, SCHEDULE_MISSED);
    assert_int_equal(story_info(t, "n").next_at, moment("2023-11-15 23:00"));
    passes(t, HOUR);
    does(t, "2023-11-15 23:00");
}

static void a_moment_of_less_than_a_minute_ago_is_not_missed(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_SKIP);
    clock_steps(t, moment("2023-11-15 05:00:59") - t->stage->now.wall);
    does(t, "2023-11-15 05:00");
    counts_are(t, "fired 1 missed 1");
    clock_steps(t, moment("2023-11-15 06:01:00") - t->stage->now.wall);
    does(t, "");
    counts_are(t, "fired 1 missed 2");
    clock_steps(t, moment("2023-11-15 07:00:59") - t->stage->now.wall);
    does(t, "2023-11-15 07:00");
    counts_are(t, "fired 2 missed 2");
}

static void of_missed_moments_the_last_one_happens_once(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ONCE);
    clock_steps(t, DAY);
    does(t, "2023-11-15 22:00");
    counts_are(t, "fired 1 late 1 missed 1");
    passes(t, HOUR);
    does(t, "2023-11-15 23:00");
    counts_are(t, "fired 2 late 1 missed 1");
    // The only missed moment submits its job, so none was skipped.
    clock_steps(t, moment("2023-11-16 00:30") - t->stage->now.wall);
    does(t, "2023-11-16 00:00");
    counts_are(t, "fired 3 late 2 missed 1");
}

static void all_missed_moments_happen_in_their_order(void **state)
{
    struct story *t = *state;

    has_in_file(t, "0 */6 * * *", .missed = SCHEDULE_MISSED_ALL);
    clock_steps(t, DAY);
    does(t, "2023-11-15 00:00,2023-11-15 06:00,2023-11-15 12:00,2023-11-15 18:00");
    counts_are(t, "fired 4 late 4");
}

static void of_all_missed_moments_at_most_the_last_hundred_happen(void **state)
{
    struct story *t = *state;

    has_in_file(t, "* * * * *", .missed = SCHEDULE_MISSED_ALL);
    clock_steps(t, 365 * DAY);
    stage_expect_jobs(t->stage, "q", 100, 0, 0, 0);
    counts_are(t, "fired 100 late 99 missed 1");
    // The first is the hundredth last. It is 22:13:20.
    const struct job *first = queue_peek_ready(stage_find(t->stage, "q"));
    assert_true(
        slice_equal(stage_job(t->stage, job_id(first)).key, SLICE("n@2024-11-13T20:34:00Z")));
    passes(t, MINUTE);
    counts_are(t, "fired 101 late 99 missed 1");
}

static void jobs_may_overlap(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly", .overlap = SCHEDULE_OVERLAP_ALLOW);
    passes(t, 3 * HOUR);
    does(t, "2023-11-14 23:00,2023-11-15 00:00,2023-11-15 01:00");
}

static void a_moment_is_skipped_while_the_job_before_it_lives(void **state)
{
    struct story *t = *state;
    struct actor *worker;
    uint64_t id;

    has_in_file(t, "@hourly", .overlap = SCHEDULE_OVERLAP_SKIP);
    passes(t, 2 * HOUR);
    stage_expect_jobs(t->stage, "q", 1, 0, 0, 0);
    counts_are(t, "fired 1 overlapped 1");
    assert_int_equal(story_info(t, "n").outcome, SCHEDULE_OVERLAPPED);
    // A job that is held or delayed is not done.
    worker = stage_worker(t->stage, "w", "q");
    id = act_take(worker);
    passes(t, HOUR);
    assert_status(STATUS_OK, act_release(worker, id, 0, 2 * HOUR));
    passes(t, HOUR);
    counts_are(t, "fired 1 overlapped 3");
    passes(t, HOUR);
    counts_are(t, "fired 1 overlapped 4");
    assert_int_equal(act_take(worker), id);
    assert_status(STATUS_OK, act_complete(worker, id, NULL));
    act_close(worker);
    passes(t, HOUR);
    does(t, "2023-11-15 04:00");
}

static void a_buried_job_does_not_overlap(void **state)
{
    struct story *t = *state;
    struct actor *worker;

    has_in_file(t, "@hourly", .overlap = SCHEDULE_OVERLAP_SKIP);
    passes(t, HOUR);
    worker = stage_worker(t->stage, "w", "q");
    assert_status(STATUS_OK, act_bury(worker, act_take(worker), 0));
    act_close(worker);
    passes(t, HOUR);
    does(t, "2023-11-15 00:00");
}

static void a_missed_moment_can_overlap(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly", .overlap = SCHEDULE_OVERLAP_SKIP, .missed = SCHEDULE_MISSED_ONCE);
    passes_until(t, "2023-11-14 23:00:01");
    clock_steps(t, moment("2023-11-15 01:30") - t->stage->now.wall);
    does(t, "2023-11-14 23:00");
    counts_are(t, "fired 1 missed 1 overlapped 1");
}

static void a_job_refused_by_a_full_queue_is_retried_until_the_next_moment(void **state)
{
    struct story *t = *state;
    const uint32_t one[BAND_COUNT] = {1, 1, 1}, none[BAND_COUNT] = {0};

    (void)PUT(t->stage, .queue = "q", .pri = 9, .key = "x@y");
    assert_status(STATUS_OK, broker_queue_limit(NULL, stage_find(t->stage, "q"), one));
    has_in_file(t, "@hourly");
    passes_until(t, "2023-11-14 23:00:02");
    counts_are(t, "refused 3");
    assert_int_equal(story_info(t, "n").outcome, SCHEDULE_REFUSED);
    assert_int_equal(story_info(t, "n").status, STATUS_QUEUE_FULL);
    assert_status(STATUS_OK, broker_queue_limit(NULL, stage_find(t->stage, "q"), none));
    passes(t, SEC(1));
    counts_are(t, "fired 1 refused 3");
    assert_int_equal(story_info(t, "n").fired_at, moment("2023-11-14 23:00"));
    // Until the next moment, which has a job of its own.
    assert_status(STATUS_OK, broker_queue_limit(NULL, stage_find(t->stage, "q"), one));
    passes_until(t, "2023-11-15 00:59:59");
    assert_int_equal(story_info(t, "n").outcome_at, moment("2023-11-15 00:00"));
    assert_status(STATUS_OK, broker_queue_limit(NULL, stage_find(t->stage, "q"), none));
    clock_steps(t, SEC(1));
    assert_int_equal(story_info(t, "n").counts.given_up, 1);
    assert_int_equal(story_info(t, "n").counts.fired, 2);
    assert_int_equal(story_info(t, "n").fired_at, moment("2023-11-15 01:00"));
}

static void a_job_refused_by_a_draining_broker_is_retried(void **state)
{
    struct story *t = *state;

    broker_drain(t->stage->broker);
    has_in_file(t, "@hourly");
    passes_until(t, "2023-11-14 23:05");
    does(t, "");
    assert_int_equal(story_info(t, "n").status, STATUS_DRAINING);
    broker_end_drain(t->stage->broker);
    passes(t, SEC(1));
    does(t, "2023-11-14 23:00");
    assert_int_equal(story_info(t, "n").counts.late, 1);
}

static void a_job_refused_for_lack_of_store_space_is_retried(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly");
    t->stage->refused = STORE_REFUSES(RECORD_SUBMIT);
    passes_until(t, "2023-11-14 23:00:10");
    assert_int_equal(story_info(t, "n").status, STATUS_NO_SPACE);
    t->stage->refused = 0;
    passes(t, SEC(1));
    does(t, "2023-11-14 23:00");
}

static void a_refused_moment_that_is_missed_is_given_up(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly");
    t->stage->refused = STORE_REFUSES(RECORD_SUBMIT);
    passes_until(t, "2023-11-14 23:00:10");
    t->stage->refused = 0;
    clock_steps(t, DAY);
    does(t, "2023-11-15 23:00");
    assert_int_equal(story_info(t, "n").counts.given_up, 1);
    assert_int_equal(story_info(t, "n").counts.missed, 1);
}

static void a_schedule_is_run_by_hand(void **state)
{
    struct story *t = *state;
    struct submission submission;

    has_in_file(t, "@hourly", .overlap = SCHEDULE_OVERLAP_SKIP);
    assert_status(STATUS_OK, schedules_run(t->schedules, SLICE("n"), &submission));
    assert_true(
        slice_equal(stage_job(t->stage, submission.id).key, SLICE("n@2023-11-14T22:13:20Z")));
    assert_int_equal(story_info(t, "n").next_at, moment("2023-11-14 23:00"));
    assert_status(STATUS_NOT_FOUND, schedules_run(t->schedules, SLICE("m"), &submission));
    // The next moment overlaps with this job.
    passes(t, HOUR);
    does(t, "2023-11-14 22:13");
    counts_are(t, "fired 1 overlapped 1");
    broker_drain(t->stage->broker);
    assert_status(STATUS_DRAINING, schedules_run(t->schedules, SLICE("n"), &submission));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALE(each_moment_submits_a_job),
        TALE(no_work_is_due_for_a_schedule_without_moments),
        TALE(many_schedules_of_one_moment_take_several_slices),
        TALE(missed_moments_are_skipped),
        TALE(a_moment_of_less_than_a_minute_ago_is_not_missed),
        TALE(of_missed_moments_the_last_one_happens_once),
        TALE(all_missed_moments_happen_in_their_order),
        TALE(of_all_missed_moments_at_most_the_last_hundred_happen),
        TALE(jobs_may_overlap),
        TALE(a_moment_is_skipped_while_the_job_before_it_lives),
        TALE(a_buried_job_does_not_overlap),
        TALE(a_missed_moment_can_overlap),
        TALE(a_job_refused_by_a_full_queue_is_retried_until_the_next_moment),
        TALE(a_job_refused_by_a_draining_broker_is_retried),
        TALE(a_job_refused_for_lack_of_store_space_is_retried),
        TALE(a_refused_moment_that_is_missed_is_given_up),
        TALE(a_schedule_is_run_by_hand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
