/* SPDX-License-Identifier: MIT */
// Jobs that were ready for longer than the policy of their queue allows.
#include "core/submit.h"
#include "core/dead_letter.h"
#include "core/result.h"
#include "tests/core/stage_restart.h"
#include "tests/support/nth_alloc.h"

// Waits are measured in steps, so that a job expires at most this much later than the policy says.
#define STEPS MSEC(3)

static struct counts counts_of(struct stage *s, const char *queue)
{
    struct counts counts;

    queue_counts(stage_find(s, queue), &counts);
    return counts;
}

static void job_that_waits_too_long_fails(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_worker(s, "c", "q");

    POLICY(s, "q", .expire_after_for = SEC(10));
    SUBMIT(c, .queue = "q");
    stage_expect_recorded(s, "submit 1");
    stage_advance(s, SEC(10));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    stage_advance(s, STEPS);
    stage_expect(s, "c failed 1");
    stage_expect_recorded(s, "end 1");
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    assert_int_equal(counts_of(s, "q").expired, 1);
    assert_int_equal(counts_of(s, "q").failed, 0);
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

static void broker_wakes_when_a_single_job_expires(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    nsec_t began = s->now.mono;

    (void)w;
    POLICY(s, "q", .expire_after_for = SEC(100));
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
    PUT(s, .queue = "q");
    stage_advance_to_due(s);
    assert_true(s->now.mono >= began + SEC(100) && s->now.mono <= began + SEC(100) + STEPS);
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void wait_begins_when_the_delay_ends(void **state)
{
    struct stage *s = *state;

    POLICY(s, "q", .expire_after_for = SEC(10));
    PUT(s, .delay_for = SEC(30));
    stage_advance(s, SEC(30));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    stage_advance(s, SEC(10));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    stage_advance(s, STEPS);
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void delayed_held_and_buried_jobs_stay(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .expire_after_for = SEC(1));
    PUT(s, .queue = "q");
    PUT_BURIED(s, .queue = "q");
    PUT(s, .delay_for = SEC(100));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(60));
    stage_expect_jobs(s, "q", 0, 1, 1, 1);
}

// The wait starts again if a worker gives the job back, if it is lost, and if it is kicked.
static void wait_of_a_job_that_comes_back_starts_again(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .expire_after_for = SEC(10));
    PUT(s, .ttr_for = SEC(15));
    stage_advance(s, SEC(9));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(5));
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    stage_advance(s, SEC(9));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(15));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    stage_advance(s, SEC(9));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_bury(w, 1, 0));
    stage_advance(s, SEC(60));
    assert_int_equal(stage_kick(s, "q", 1), 1);
    stage_advance(s, SEC(9));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    stage_advance(s, SEC(1) + STEPS);
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void job_behind_one_that_came_back_is_found(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .expire_after_for = SEC(10));
    PUT(s, .body = "a");
    PUT(s, .body = "b");
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(9));
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    stage_advance(s, SEC(1) + STEPS);
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(stage_state(s, 2), JOB_GONE);
}

// More jobs than a tick looks at, of which some have expired and some have not.
static void expired_jobs_are_removed_in_slices_and_given_to_no_worker(void **state)
{
    enum { OVER = 5 * BROKER_SLICE, FRESH = 10 };

    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");
    uint64_t fresh;

    POLICY(s, "q", .expire_after_for = SEC(10));
    for (int i = 0; i < OVER; i++) {
        PUT(s, .queue = "q");
    }
    stage_advance(s, SEC(9));
    fresh = PUT(s, .pri = 1);
    for (int i = 1; i < FRESH; i++) {
        PUT(s, .pri = 1);
    }
    s->now.mono += SEC(1) + STEPS;
    broker_tick(s->broker, s->now);
    assert_int_equal(stage_info(s).jobs[JOB_READY], OVER + FRESH - BROKER_SLICE);
    // A take goes a slice further, and finds no job that may be taken.
    assert_int_equal(act_take(w), 0);
    assert_int_equal(stage_info(s).jobs[JOB_READY], OVER + FRESH - 2 * BROKER_SLICE);
    assert_int_equal(stage_queue(s, "q").closed, CLOSED_EXPIRING);
    assert_status(STATUS_NOT_FOUND, act_take_id(w, OVER));
    act_wait(w);
    act_await_nudge(v);
    stage_settle(s);
    assert_int_equal(stage_state(s, fresh), JOB_RESERVED);
    assert_int_equal(stage_info(s).jobs[JOB_READY], FRESH - 1);
    assert_int_equal(counts_of(s, "q").expired, OVER);
    stage_expect(s, "w leased 321; v nudged");
}

static void take_finds_a_job_behind_a_few_expired_ones(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .expire_after_for = SEC(10));
    // The broker handles jobs older than a policy at once, and then after some time.
    PUT(s, .body = "a");
    stage_advance(s, MSEC(9990));
    PUT(s, .body = "b");
    PUT(s, .body = "c");
    stage_advance(s, MSEC(10) + STEPS);
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    stage_advance(s, SEC(9));
    PUT(s, .pri = 5);
    s->now.mono += SEC(1);
    s->now.wall += SEC(1);
    assert_int_equal(stage_state(s, 2), JOB_READY);
    broker_tick(s->broker, s->now);
    assert_int_equal(act_take(w), 4);
    assert_int_equal(act_take(w), 0);
}

static void expired_job_is_not_taken_by_its_id(void **state)
{
    enum { LATE_ONES = 3 * BROKER_SLICE };

    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .expire_after_for = SEC(10), .max_running = 100);
    for (int i = 0; i < LATE_ONES; i++) {
        PUT(s, .queue = "q");
    }
    s->now.mono += SEC(10) + STEPS;
    broker_tick(s->broker, s->now);
    assert_int_equal(stage_state(s, LATE_ONES), JOB_READY);
    assert_status(STATUS_NOT_FOUND, act_take_id(w, LATE_ONES));
    assert_int_equal(stage_state(s, LATE_ONES), JOB_GONE);
}

static void job_that_expires_goes_to_the_dead_queue(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    const struct job *job;
    struct dead_letter past;

    POLICY(s, "q", .expire_after_for = SEC(10), .on_expired = ON_EXPIRED_MOVE,
           .dead_queue = SLICE("{queue}.dead"));
    SUBMIT(c, .queue = "q");
    SUBMIT(c, .queue = "q", .fleeting = true);
    stage_advance(s, SEC(10) + STEPS);
    stage_expect(s, "c failed 1; c failed 2");
    job = broker_find(s->broker, 1);
    assert_non_null(job);
    assert_true(slice_equal(queue_name(job_queue(s->broker, job)), SLICE("q.dead")));
    assert_true(job_dead_letter(s->broker, job, &past));
    assert_int_equal(past.why, DEAD_EXPIRED);
    assert_int_equal(stage_state(s, 2), JOB_GONE);
    assert_null(stage_find(s, "q"));
}

// The take goes a slice further than the tick. It moves jobs to a queue from which the same worker
// takes: the worker gets one of these jobs, and does not wait beside them.
static void take_gets_a_job_that_it_moved_to_the_dead_queue(void **state)
{
    enum { OVER = 3 * BROKER_SLICE };

    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *v = stage_worker(s, "v", "dead");

    act_subscribe(w, "dead");
    POLICY(s, "q", .expire_after_for = SEC(10), .on_expired = ON_EXPIRED_MOVE,
           .dead_queue = SLICE("dead"));
    for (int i = 0; i < OVER; i++) {
        PUT(s, .queue = "q");
    }
    s->now.mono += SEC(10) + STEPS;
    broker_tick(s->broker, s->now);
    while (act_take(v)) {
    }
    assert_true(act_take(w) > 0);
    stage_settle(s);
    stage_expect_jobs(s, "q", 0, 0, 0, 0);
}

// The worker begins to wait when the first of them is already there: it gets that one.
static void moved_expired_jobs_reach_a_waiting_worker(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "to");

    act_wait(w);
    assert_status(STATUS_OK, stage_pause(s, "to", SEC(60)));
    for (uint64_t id = 1; id <= 3; id++) {
        assert_int_equal(PUT(s, .queue = "q"), id);
        assert_status(STATUS_OK, stage_act(s, NULL, id, ACT(.kind = ACT_MOVE, .to = SLICE("to"))));
    }
    stage_expect(s, "");
    stage_advance(s, SEC(60));
    stage_expect(s, "w leased 1");
}

static void wait_of_a_moved_job_starts_again(void **state)
{
    struct stage *s = *state;

    POLICY(s, "q", .expire_after_for = SEC(10));
    PUT(s, .queue = "other");
    stage_advance(s, SEC(86400));
    assert_status(STATUS_OK, stage_act(s, NULL, 1, ACT(.kind = ACT_MOVE, .to = SLICE("q"))));
    stage_advance(s, SEC(9));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    stage_advance(s, SEC(1) + STEPS);
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void job_that_expired_during_a_pause_is_given_to_no_worker(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .expire_after_for = SEC(10));
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(60)));
    PUT(s, .queue = "q");
    act_wait(w);
    stage_advance(s, SEC(55));
    PUT(s, .pri = 1);
    stage_advance(s, SEC(5));
    stage_expect(s, "w leased 2");
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void new_policy_counts_waits_that_began_before_it(void **state)
{
    struct stage *s = *state;

    PUT(s, .queue = "q");
    stage_advance(s, SEC(5));
    POLICY(s, "q", .expire_after_for = SEC(10));
    stage_settle(s);
    assert_int_equal(stage_state(s, 1), JOB_READY);
    POLICY(s, "other", .expire_after_for = SEC(1));
    stage_advance(s, SEC(60));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
    POLICY(s, "q", .expire_after_for = SEC(10));
    stage_settle(s);
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

// The moment of each is exact, though they came closer to each other than any interval.
static void broker_wakes_when_each_job_expires(void **state)
{
    enum { JOBS = 100 };

    struct stage *s = *state;
    nsec_t came_at[JOBS];

    POLICY(s, "q", .expire_after_for = SEC(6400));
    for (int i = 0; i < JOBS; i++) {
        came_at[i] = s->now.mono;
        PUT(s, .queue = "q", .pri = (uint32_t)i % 3);
        stage_advance(s, MSEC(100));
    }
    for (int i = 0; i < JOBS; i++) {
        stage_advance_to_due(s);
        assert_true(s->now.mono >= came_at[i] + SEC(6400));
        assert_true(s->now.mono <= came_at[i] + SEC(6400) + STEPS);
        assert_int_equal(stage_info(s).jobs[JOB_READY], JOBS - 1 - i);
    }
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

// The jobs are ready for 60, 50 and 30 seconds; the first two are taken and buried: the broker
// wakes when the third expires.
static void taken_job_does_not_expire(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    nsec_t began = s->now.mono;

    POLICY(s, "q", .expire_after_for = SEC(100));
    PUT(s, .queue = "q");
    stage_advance(s, SEC(10));
    PUT(s, .queue = "q");
    stage_advance(s, SEC(20));
    PUT(s, .queue = "q");
    stage_advance(s, SEC(30));
    for (uint64_t id = 1; id <= 2; id++) {
        assert_int_equal(act_take(w), id);
        assert_status(STATUS_OK, act_bury(w, id, 0));
    }
    stage_advance_to_due(s);
    assert_true(s->now.mono >= began + SEC(130) && s->now.mono <= began + SEC(130) + STEPS);
    assert_int_equal(stage_state(s, 3), JOB_GONE);
}

// Some of the jobs that are older than the policy have expired when it comes, most have not. It
// takes many slices to index them, and as many to free the index; other work runs in between.
static void jobs_older_than_the_policy_are_indexed_in_slices(void **state)
{
    enum { OVER = 3 * BROKER_SLICE, FRESH = 10 * BROKER_SLICE, DONE_AT_ONCE = 2 * BROKER_SLICE };

    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    unsigned ticks = 0;
    nsec_t came_at;

    for (int i = 0; i < OVER; i++) {
        PUT(s, .pri = 5);
    }
    stage_advance(s, SEC(60));
    came_at = s->now.mono;
    for (int i = 0; i < FRESH; i++) {
        PUT(s, .pri = 9);
    }
    stage_advance(s, SEC(50));
    POLICY(s, "q", .expire_after_for = SEC(100));
    broker_tick(s->broker, s->now);
    assert_true(stage_info(s).jobs[JOB_READY] >= OVER + FRESH - DONE_AT_ONCE);
    // A worker that comes meanwhile gets no expired job.
    assert_int_equal(act_take(w), 0);
    for (; broker_next_due(s->broker) <= s->now.mono; ticks++) {
        stage_step(s);
        broker_tick(s->broker, s->now);
    }
    assert_true(ticks >= (OVER + FRESH) / DONE_AT_ONCE);
    assert_int_equal(act_take(w), OVER + 1);
    stage_expect_jobs(s, "q", FRESH - 1, 0, 1, 0);
    stage_advance_to_due(s);
    assert_true(s->now.mono >= came_at + SEC(100) && s->now.mono <= came_at + SEC(100) + STEPS);
    stage_expect_jobs(s, "q", 0, 0, 1, 0);
}

static void index_is_freed_in_slices_with_the_policy_and_comes_back(void **state)
{
    enum { JOBS = 5 * BROKER_SLICE };

    struct stage *s = *state;
    nsec_t began = s->now.mono;
    unsigned ticks = 0;

    POLICY(s, "[qr]", .expire_after_for = SEC(100));
    for (int i = 0; i < JOBS; i++) {
        PUT(s, .queue = "q");
        PUT(s, .queue = "r");
    }
    POLICY(s, "x", .expire_after_for = SEC(100));
    for (; broker_next_due(s->broker) <= s->now.mono; ticks++) {
        broker_tick(s->broker, s->now);
        stage_step(s);
    }
    assert_true(ticks >= 2 * JOBS / BROKER_SLICE && ticks <= 6 * JOBS / BROKER_SLICE);
    stage_advance(s, SEC(60));
    POLICY(s, "[qr]", .expire_after_for = SEC(100));
    stage_settle(s);
    assert_int_equal(stage_kick(s, "q", 1), 0);
    stage_advance_to_due(s);
    assert_true(s->now.mono >= began + SEC(100) && s->now.mono <= began + SEC(100) + STEPS);
    assert_int_equal(stage_info(s).jobs[JOB_READY], 0);
}

// The allocation for the entry of a job whose delay ends fails, one job later each time.
static void job_without_memory_for_its_entry_expires_a_little_late(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .expire_after_for = MSEC(100));
    PUT(s, .delay_for = SEC(10));
    PUT(s, .delay_for = SEC(10));
    PUT(s, .delay_for = SEC(10));
    s->now.mono += SEC(10);
    s->now.wall += SEC(10);
    nth_alloc_fail_from(1);
    broker_tick(s->broker, s->now);
    nth_alloc_fail(0);
    stage_step(s);
    stage_expect_jobs(s, "q", 3, 0, 0, 0);
    // One job leaves before it is indexed, another one has expired by then.
    assert_status(STATUS_OK, stage_cancel(s, 2));
    stage_advance(s, MSEC(100) + STEPS);
    assert_int_equal(act_take(w), 0);
    stage_advance(s, SEC(1));
    stage_settle(s);
    stage_expect_jobs(s, "q", 0, 0, 0, 0);
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

// By then, the steps of the wait have wrapped: the job is still found.
static void expired_jobs_are_found_after_months_of_suspension(void **state)
{
    struct stage *s = *state;

    POLICY(s, "q", .expire_after_for = SEC(100));
    for (int i = 0; i < 2 * BROKER_SLICE; i++) {
        PUT(s, .queue = "q");
    }
    s->now.mono += SEC(86400) * 200;
    s->now.wall += SEC(86400) * 200;
    broker_tick(s->broker, s->now);
    stage_step(s);
    assert_status(STATUS_OK, stage_cancel(s, 2 * BROKER_SLICE));
    assert_status(STATUS_OK, stage_act(s, NULL, 2 * BROKER_SLICE - 1,
                                       ACT(.kind = ACT_CHANGE, .sets_pri = true, .pri = 7)));
    PUT(s, .queue = "q");
    stage_settle(s);
    stage_expect_jobs(s, "q", 1, 0, 0, 0);
}

// Job 1 was given back, job 2 has been ready since its delay ended, job 3 since it came.
static void wait_continues_over_a_restart(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct stage *t = stage_new((struct broker_options){0}, true);

    POLICY(s, "q", .expire_after_for = SEC(10000));
    PUT(s, .queue = "q");
    PUT(s, .delay_for = SEC(5000));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    PUT(s, .queue = "q");
    stage_advance(s, SEC(5000));
    stage_advance(s, SEC(1000));
    POLICY(t, "q", .expire_after_for = SEC(10000));
    t->now.wall = s->now.wall + SEC(1000);
    t->now.mono += SEC(5);
    broker_tick(t->broker, t->now);
    for (uint64_t id = 1; id <= 3; id++) {
        struct job_image image = stage_image(s, id);
        const struct job *job;

        assert_status(STATUS_OK, broker_restore_job(t->broker, &image, &job));
    }
    assert_status(STATUS_OK, broker_restore_finish(t->broker, 4));
    stage_settle(t);
    stage_advance(t, SEC(2900));
    assert_int_equal(stage_state(t, 1), JOB_READY);
    assert_int_equal(stage_state(t, 3), JOB_READY);
    stage_advance(t, SEC(100) + STEPS);
    assert_int_equal(stage_state(t, 1), JOB_GONE);
    assert_int_equal(stage_state(t, 3), JOB_GONE);
    stage_advance(t, SEC(4700));
    assert_int_equal(stage_state(t, 2), JOB_READY);
    stage_advance(t, SEC(400));
    assert_int_equal(stage_state(t, 2), JOB_GONE);
    stage_free(t);
}

// All of these were submitted long ago, and have become ready recently: an epoch job, one that an
// operator delayed, one that was moved here, one that was imported with an age, and a kicked one.
// After a restart, each waits since then.
static void time_that_the_broker_forgave_does_not_count_after_a_restart(void **state)
{
    enum { JOBS = 5 };

    struct stage *s = *state;
    struct stage *t = stage_new((struct broker_options){0}, true);
    struct imported imported;
    struct job_image image;

    POLICY(s, "q", .expire_after_for = SEC(3600));
    PUT(s, .at = s->now.wall + SEC(86400));
    PUT(s, .queue = "q");
    assert_status(STATUS_OK,
                  stage_act(s, NULL, 2,
                            ACT(.kind = ACT_CHANGE, .sets_delay = true, .delay_for = SEC(86400))));
    PUT(s, .queue = "other");
    PUT_BURIED(s, .queue = "q");
    image = stage_image(s, 3);
    stage_advance(s, SEC(86400));
    assert_status(STATUS_OK, stage_act(s, NULL, 3, ACT(.kind = ACT_MOVE, .to = SLICE("q"))));
    assert_int_equal(stage_kick(s, "q", 1), 1);
    image.now.id = JOBS;
    image.queue = SLICE("q");
    assert_status(STATUS_OK, broker_import(s->broker, &image, NULL, &imported));
    stage_settle(s);
    stage_advance(s, SEC(1600));
    POLICY(t, "q", .expire_after_for = SEC(3600));
    t->now.wall = s->now.wall;
    broker_tick(t->broker, t->now);
    for (uint64_t id = 1; id <= JOBS; id++) {
        const struct job *job;

        image = stage_image(s, id);
        assert_int_equal(image.now.state, JOB_READY);
        assert_status(STATUS_OK, broker_restore_job(t->broker, &image, &job));
    }
    assert_status(STATUS_OK, broker_restore_finish(t->broker, JOBS + 1));
    stage_advance(t, SEC(1990));
    stage_expect_jobs(t, "q", JOBS, 0, 0, 0);
    stage_advance(t, SEC(10) + STEPS);
    assert_null(stage_find(t, "q"));
    stage_free(t);
}

// After a restart that took time by the wall clock: the only job is restored, in `t`.
static void come_back(const struct stage *s, struct stage *t, const struct job_image *image)
{
    const struct job *job;

    t->now.wall = s->now.wall;
    broker_tick(t->broker, t->now);
    assert_status(STATUS_OK, broker_restore_job(t->broker, image, &job));
    assert_status(STATUS_OK, broker_restore_finish(t->broker, 2));
}

// Policies set at run time come when all jobs are restored.
static void wait_continues_under_a_policy_restored_after_the_jobs(void **state)
{
    struct stage *s = *state;
    struct stage *t = stage_new((struct broker_options){0}, true);
    struct job_image image;

    POLICY(s, "q", .expire_after_for = SEC(3600));
    PUT(s, .queue = "q");
    stage_advance(s, SEC(3000));
    image = stage_image(s, 1);
    come_back(s, t, &image);
    POLICY(t, "q", .expire_after_for = SEC(3600));
    stage_settle(t);
    stage_advance(t, SEC(590));
    assert_int_equal(stage_state(t, 1), JOB_READY);
    stage_advance(t, SEC(10) + STEPS);
    assert_int_equal(stage_state(t, 1), JOB_GONE);
    stage_free(t);
}

// An older journal does not have the moment: the wait starts again, however old the job is.
static void wait_of_unknown_beginning_starts_again_after_a_restart(void **state)
{
    struct stage *s = *state;
    struct stage *t = stage_new((struct broker_options){0}, true);
    struct job_image image;

    PUT(s, .queue = "q");
    stage_advance(s, SEC(86400));
    image = stage_image(s, 1);
    POLICY(t, "q", .expire_after_for = SEC(3600));
    come_back(s, t, &image);
    stage_advance(t, SEC(3600));
    assert_int_equal(stage_state(t, 1), JOB_READY);
    stage_advance(t, SEC(60));
    assert_int_equal(stage_state(t, 1), JOB_GONE);
    stage_free(t);
}

// A lease is not recorded: for the store, the job was ready all the time.
static void job_held_at_the_end_of_the_process_does_not_expire_at_once(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct stage *t = stage_new((struct broker_options){0}, true);
    struct job_image image;

    POLICY(s, "q", .expire_after_for = SEC(3600));
    PUT(s, .queue = "q");
    image = stage_image(s, 1); // as in the record of its submission
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(86400));
    POLICY(t, "q", .expire_after_for = SEC(3600));
    come_back(s, t, &image);
    stage_advance(t, SEC(600));
    assert_int_equal(stage_state(t, 1), JOB_READY);
    stage_advance(t, STEPS);
    assert_int_equal(stage_state(t, 1), JOB_GONE);
    stage_free(t);
}

// It came to the dead queue long after its submission, and no worker has ever held it.
static void dead_letter_does_not_bring_its_age_over_a_restart(void **state)
{
    struct stage *s = *state;
    struct stage *t = stage_new((struct broker_options){0}, true);
    struct job_image image;

    POLICY(s, "q", .expire_after_for = SEC(86400), .on_expired = ON_EXPIRED_MOVE,
           .dead_queue = SLICE("dead"));
    PUT(s, .queue = "q");
    stage_advance(s, SEC(86400) + STEPS);
    stage_expect_jobs(s, "dead", 1, 0, 0, 0);
    image = stage_image(s, 1);
    POLICY(t, "dead", .expire_after_for = SEC(86400));
    come_back(s, t, &image);
    stage_advance(t, SEC(86300));
    assert_int_equal(stage_state(t, 1), JOB_READY);
    stage_free(t);
}

// The search has passed the place to which an operator moves an expired job.
static void queue_opens_though_an_expired_job_becomes_the_first(void **state)
{
    enum { OVER = 2 * BROKER_SLICE + 1 };

    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    uint64_t last = 0;

    POLICY(s, "q", .expire_after_for = SEC(3600));
    for (int i = 0; i < OVER; i++) {
        last = PUT(s, .pri = 5);
    }
    stage_advance(s, SEC(3590));
    PUT(s, .pri = 9);
    s->now.mono += SEC(10) + STEPS;
    broker_tick(s->broker, s->now);
    // A take closes the queue, and goes a slice further, up to the last expired job.
    assert_int_equal(act_take(w), 0);
    assert_int_equal(stage_queue(s, "q").closed, CLOSED_EXPIRING);
    assert_status(STATUS_OK,
                  stage_act(s, NULL, last, ACT(.kind = ACT_CHANGE, .sets_pri = true, .pri = 1)));
    stage_settle(s);
    assert_int_equal(stage_state(s, last), JOB_GONE);
    assert_int_equal(stage_queue(s, "q").closed, 0);
    assert_int_equal(act_take(w), OVER + 1);
}

static void expired_job_has_a_result_if_results_are_kept(void **state)
{
    struct stage *s = *state;
    struct result result;

    POLICY(s, "q", .expire_after_for = SEC(10), .keep_result_for = SEC(100));
    PUT(s, .queue = "q");
    stage_advance(s, SEC(10) + STEPS);
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    assert_true(broker_result(s->broker, 1, &result));
    assert_int_equal(result.end, RESULT_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(job_that_waits_too_long_fails),
        STORY(broker_wakes_when_a_single_job_expires),
        STORY(wait_begins_when_the_delay_ends),
        STORY(delayed_held_and_buried_jobs_stay),
        STORY(wait_of_a_job_that_comes_back_starts_again),
        STORY(job_behind_one_that_came_back_is_found),
        STORY(expired_jobs_are_removed_in_slices_and_given_to_no_worker),
        STORY(take_finds_a_job_behind_a_few_expired_ones),
        STORY(expired_job_is_not_taken_by_its_id),
        STORY(job_that_expires_goes_to_the_dead_queue),
        STORY(take_gets_a_job_that_it_moved_to_the_dead_queue),
        STORY(moved_expired_jobs_reach_a_waiting_worker),
        STORY(wait_of_a_moved_job_starts_again),
        STORY(job_that_expired_during_a_pause_is_given_to_no_worker),
        STORY(new_policy_counts_waits_that_began_before_it),
        STORY(broker_wakes_when_each_job_expires),
        STORY(taken_job_does_not_expire),
        STORY(jobs_older_than_the_policy_are_indexed_in_slices),
        STORY(index_is_freed_in_slices_with_the_policy_and_comes_back),
        STORY(job_without_memory_for_its_entry_expires_a_little_late),
        STORY(expired_jobs_are_found_after_months_of_suspension),
        STORY(wait_continues_over_a_restart),
        STORY(time_that_the_broker_forgave_does_not_count_after_a_restart),
        STORY(wait_continues_under_a_policy_restored_after_the_jobs),
        STORY(wait_of_unknown_beginning_starts_again_after_a_restart),
        STORY(job_held_at_the_end_of_the_process_does_not_expire_at_once),
        STORY(dead_letter_does_not_bring_its_age_over_a_restart),
        STORY(queue_opens_though_an_expired_job_becomes_the_first),
        STORY(expired_job_has_a_result_if_results_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
