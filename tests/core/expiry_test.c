/* SPDX-License-Identifier: MIT */
// Jobs that were ready for longer than their queue's policy lets them be.
#include "core/import.h"
#include "core/dead_letter.h"
#include "core/result.h"
#include "tests/core/stage_restart.h"
#include "tests/support/nth_alloc.h"

// A wait is told in steps, so that a job is gone at most so much later than the policy says.
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

static void broker_wakes_for_a_lone_job_when_it_is_over(void **state)
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

// A worker that gives it back, or is lost, makes it wait anew; so does who kicks it.
static void job_that_comes_back_waits_anew(void **state)
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

// More jobs than are looked at in a tick, of which some are over and some not.
static void many_are_gone_in_slices_and_none_is_given_meanwhile(void **state)
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
    // A take goes a slice further, and finds nothing that it may have.
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

static void take_finds_what_stands_behind_a_few_that_are_over(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .expire_after_for = SEC(10));
    // The broker looks at once for what a policy finds, and then after a while.
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

static void job_that_is_over_is_taken_by_its_id_no_more(void **state)
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

// The take goes a slice further than the tick. What it moves comes to a queue that the same worker
// takes from: it gets one of those jobs, and does not begin to wait beside them.
static void take_gets_what_it_has_moved_to_the_dead_queue(void **state)
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

// The worker begins to wait with the first of them already there: it is not forgotten.
static void jobs_that_are_moved_beside_a_waiting_worker_reach_it(void **state)
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

static void job_that_is_moved_waits_anew(void **state)
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

static void what_is_over_when_a_pause_ends_is_given_to_nobody(void **state)
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

static void policy_that_comes_and_goes_counts_waits_that_went_before(void **state)
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

// The moment of each is known, though they came closer to each other than any interval.
static void broker_wakes_for_each_job_when_it_is_over(void **state)
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

// Ready for 60, 50 and 30 seconds, the first two are taken and buried: the end of the third is what
// the broker wakes for.
static void what_workers_take_is_waited_for_no_more(void **state)
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

// Some of those that are there when the policy comes are over by then, most are not. It takes many
// slices to index them, and as many to forget the index; between them others have their turn.
static void jobs_that_were_there_before_the_policy_are_indexed_in_slices(void **state)
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
    // A worker that comes meanwhile gets none that is over.
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

static void index_goes_in_slices_with_the_policy_and_comes_back(void **state)
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

// One job more each time, until none fails: its delay ends, and there is no memory for its entry.
static void job_that_there_was_no_memory_for_expires_a_little_late(void **state)
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
    // One leaves before it is indexed, another is none that a worker may have any more.
    assert_status(STATUS_OK, stage_cancel(s, 2));
    stage_advance(s, MSEC(100) + STEPS);
    assert_int_equal(act_take(w), 0);
    stage_advance(s, SEC(1));
    stage_settle(s);
    stage_expect_jobs(s, "q", 0, 0, 0, 0);
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

// By then, how long a job has waited has wrapped: it is found all the same.
static void machine_that_sleeps_for_months_finds_all_jobs(void **state)
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
static void wait_goes_on_over_a_restart(void **state)
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

// All of these were submitted long ago, and have become ready of late: an epoch job, one that an
// operator delayed, one that was moved here, one that was imported, with an age, a kicked one. Once
// restarted, each waits on since then.
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

// After a restart of which the wall clock knows: the only job is back, in `t`.
static void come_back(const struct stage *s, struct stage *t, const struct job_image *image)
{
    const struct job *job;

    t->now.wall = s->now.wall;
    broker_tick(t->broker, t->now);
    assert_status(STATUS_OK, broker_restore_job(t->broker, image, &job));
    assert_status(STATUS_OK, broker_restore_finish(t->broker, 2));
}

// Those of the run time come when all jobs are back.
static void wait_goes_on_under_a_policy_that_comes_back_after_the_jobs(void **state)
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

// An older journal does not say since when: the wait begins anew, however old the job is.
static void job_that_became_ready_nobody_knows_when_waits_anew_after_a_restart(void **state)
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

// That a worker has a job is not recorded: to the store it is as one that was ready all the time.
static void job_that_was_held_when_the_process_ended_is_not_over_after_it(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct stage *t = stage_new((struct broker_options){0}, true);
    struct job_image image;

    POLICY(s, "q", .expire_after_for = SEC(3600));
    PUT(s, .queue = "q");
    image = stage_image(s, 1); // as the record of its submission has it
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

// It came to the dead queue long after it was submitted, and no worker has ever had it.
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

// The look has passed the place that an operator brings a job to that is over.
static void queue_opens_though_a_job_that_is_over_comes_to_stand_first(void **state)
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
    // A take has the queue closed, and goes a slice further, up to the last that is over.
    assert_int_equal(act_take(w), 0);
    assert_int_equal(stage_queue(s, "q").closed, CLOSED_EXPIRING);
    assert_status(STATUS_OK,
                  stage_act(s, NULL, last, ACT(.kind = ACT_CHANGE, .sets_pri = true, .pri = 1)));
    stage_settle(s);
    assert_int_equal(stage_state(s, last), JOB_GONE);
    assert_int_equal(stage_queue(s, "q").closed, 0);
    assert_int_equal(act_take(w), OVER + 1);
}

static void job_that_expires_leaves_word_of_it_where_results_are_kept(void **state)
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
        STORY(broker_wakes_for_a_lone_job_when_it_is_over),
        STORY(wait_begins_when_the_delay_ends),
        STORY(delayed_held_and_buried_jobs_stay),
        STORY(job_that_comes_back_waits_anew),
        STORY(job_behind_one_that_came_back_is_found),
        STORY(many_are_gone_in_slices_and_none_is_given_meanwhile),
        STORY(take_finds_what_stands_behind_a_few_that_are_over),
        STORY(job_that_is_over_is_taken_by_its_id_no_more),
        STORY(job_that_expires_goes_to_the_dead_queue),
        STORY(take_gets_what_it_has_moved_to_the_dead_queue),
        STORY(jobs_that_are_moved_beside_a_waiting_worker_reach_it),
        STORY(job_that_is_moved_waits_anew),
        STORY(what_is_over_when_a_pause_ends_is_given_to_nobody),
        STORY(policy_that_comes_and_goes_counts_waits_that_went_before),
        STORY(broker_wakes_for_each_job_when_it_is_over),
        STORY(what_workers_take_is_waited_for_no_more),
        STORY(jobs_that_were_there_before_the_policy_are_indexed_in_slices),
        STORY(index_goes_in_slices_with_the_policy_and_comes_back),
        STORY(job_that_there_was_no_memory_for_expires_a_little_late),
        STORY(machine_that_sleeps_for_months_finds_all_jobs),
        STORY(wait_goes_on_over_a_restart),
        STORY(time_that_the_broker_forgave_does_not_count_after_a_restart),
        STORY(wait_goes_on_under_a_policy_that_comes_back_after_the_jobs),
        STORY(job_that_became_ready_nobody_knows_when_waits_anew_after_a_restart),
        STORY(job_that_was_held_when_the_process_ended_is_not_over_after_it),
        STORY(dead_letter_does_not_bring_its_age_over_a_restart),
        STORY(queue_opens_though_a_job_that_is_over_comes_to_stand_first),
        STORY(job_that_expires_leaves_word_of_it_where_results_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
