/* SPDX-License-Identifier: MIT */
// Watches: the events that they are told, and jobs without a watch.
#include "tests/core/stage.h"

static void each_submission_is_a_watch_of_its_own(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");
    struct actor *d = stage_open(s, "d");

    stage_mark(s, SUBMIT(c, .key = "k").watch, "/one");
    stage_mark(s, SUBMIT(d, .key = "k").watch, "/two");
    SUBMIT(c, .key = "k");
    assert_int_equal(stage_job(s, 1).watches, 3);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_progress(w, 1, 2, 5));
    stage_expect(s, "c/one progress 1 2/5; d/two progress 1 2/5; c progress 1 2/5");
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    stage_expect(s, "c/one complete 1 r; d/two complete 1 r; c complete 1 r");
}

static void events_of_a_job_are_told_in_order(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "one"));
    assert_status(STATUS_OK, act_warning(w, 1, "hm"));
    assert_status(STATUS_OK, act_data(w, 1, "two"));
    assert_status(STATUS_OK, act_progress(w, 1, 1, 2));
    assert_status(STATUS_OK, act_data(w, 1, NULL));
    assert_status(STATUS_OK, act_fail(w, 1, "bang"));
    stage_expect(s, "c data 1 one; c warning 1 hm; c data 1 two; c progress 1 1/2; c data 1; "
                    "c exception 1 bang");
}

static void loss_is_told_between_the_parts_of_two_attempts(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "lost"));
    act_give_back(w, "q");
    act_subscribe(w, "q");
    stage_settle(s);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "kept"));
    assert_status(STATUS_OK, act_complete(w, 1, "end"));
    stage_expect(s, "c data 1 lost; c retried 1; c data 1 kept; c complete 1 end");
}

// A session that was assigned a job, and not told of it yet, gets another one if the first is
// buried. The events of the other job happened before the first job's end.
static void new_attempt_is_told_before_the_end_of_the_job_that_made_room_for_it(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "p");
    struct actor *v = stage_worker(s, "v", "p");
    struct actor *c = stage_open(s, "c");

    act_subscribe(v, "q");
    SUBMIT(c, .queue = "p", .ttr_for = SEC(1));
    assert_int_equal(act_take(w), 1);
    act_wait(v);
    SUBMIT(c, .queue = "q");
    s->now.mono += SEC(1);
    broker_tick(s->broker, s->now);
    assert_status(STATUS_OK, act_bury(v, 2, 0));
    stage_expect(s, "v leased 1; c retried 1; c failed 2");
}

static void worker_may_watch_its_own_job(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(w);
    SUBMIT(w, .queue = "q");
    stage_expect(s, "w leased 1");
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    stage_expect(s, "w complete 1 r");
}

static void late_joiner_gets_the_last_progress(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");
    struct actor *d = stage_open(s, "d");

    SUBMIT(c, .key = "k");
    SUBMIT(d, .key = "k");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_progress(w, 1, 1, 10));
    assert_status(STATUS_OK, act_progress(w, 1, 7, 10));
    assert_status(STATUS_OK, act_data(w, 1, "part"));
    stage_settle(s);
    s->told.len = 0;
    SUBMIT(d, .key = "k");
    stage_expect(s, "d progress 1 7/10");
    assert_int_equal(stage_job(s, 1).numerator, 7);
    assert_int_equal(stage_job(s, 1).denominator, 10);
}

static void progress_reported_without_a_watch_is_told_to_a_joiner(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    PUT(s, .key = "k");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_progress(w, 1, 3, 4));
    SUBMIT(c, .key = "k");
    stage_expect(s, "c progress 1 3/4");
    // Once.
    assert_status(STATUS_OK, act_data(w, 1, "part"));
    stage_expect(s, "c data 1 part");
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    stage_expect(s, "c complete 1");
}

static void joiner_of_a_job_without_progress_is_told_nothing_yet(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    PUT(s, .key = "k");
    SUBMIT(c, .key = "k");
    stage_expect(s, "");
}

static void every_loss_tells_that_the_attempt_is_void(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "q");
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(5));
    stage_expect(s, "");
    assert_int_equal(act_take(w), 1);
    stage_expect(s, "c retried 1");
    act_give_back(w, "q");
    stage_expect(s, "c retried 1");
    assert_int_equal(act_take(v), 1);
    act_close(v);
    stage_expect(s, "c retried 1");
}

static void job_that_is_not_durable_ends_with_its_last_watch(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct watch *first = SUBMIT(c, .key = "k", .fleeting = true).watch;
    struct watch *second = SUBMIT(c, .key = "k", .fleeting = true).watch;

    stage_unwatch(s, first);
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(stage_job(s, 1).watches, 1);
    stage_unwatch(s, second);
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    assert_null(stage_find(s, "q"));
    SUBMIT(c, .fleeting = true, .delay_for = SEC(9));
    act_close(c);
    stage_expect(s, "");
    assert_null(stage_find(s, "q"));
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

static void durable_job_stays_without_a_watch(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    stage_unwatch(s, SUBMIT(c, .queue = "q").watch);
    SUBMIT(c, .queue = "q");
    act_close(c);
    stage_settle(s);
    stage_expect_jobs(s, "q", 2, 0, 0, 0);
}

// A job that is not durable, held by w, whose only watch has ended.
static struct actor *abandoned(struct stage *s, nsec_t ttr_for)
{
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");
    struct submission job = SUBMIT(c, .key = "k", .fleeting = true, .ttr_for = ttr_for);

    assert_int_equal(act_take(w), job.id);
    stage_unwatch(s, job.watch);
    act_close(c);
    assert_int_equal(stage_state(s, job.id), JOB_RESERVED);
    return w;
}

static void abandoned_job_may_be_finished(void **state)
{
    struct stage *s = *state;
    struct actor *w = abandoned(s, 0);

    assert_status(STATUS_OK, act_data(w, 1, "part"));
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    stage_expect(s, "");
}

static void abandoned_job_ends_when_it_is_released(void **state)
{
    struct stage *s = *state;
    struct actor *w = abandoned(s, 0);

    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void abandoned_job_ends_when_it_is_released_with_a_delay(void **state)
{
    struct stage *s = *state;
    struct actor *w = abandoned(s, 0);

    assert_status(STATUS_OK, act_release(w, 1, 0, SEC(5)));
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void abandoned_job_ends_when_it_is_buried(void **state)
{
    struct stage *s = *state;
    struct actor *w = abandoned(s, 0);

    assert_status(STATUS_OK, act_bury(w, 1, 0));
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void abandoned_job_ends_when_its_lease_times_out(void **state)
{
    struct stage *s = *state;
    struct actor *w = abandoned(s, SEC(5));

    stage_advance(s, SEC(5));
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, "late"));
}

static void abandoned_job_ends_with_its_worker(void **state)
{
    struct stage *s = *state;

    act_close(abandoned(s, 0));
    stage_settle(s);
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void job_that_is_not_durable_ends_with_a_session_that_holds_and_watches_it(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_worker(s, "c", "q");
    struct actor *w = stage_worker(s, "w", "q");

    SUBMIT(c, .fleeting = true);
    assert_int_equal(act_take(c), 1);
    act_wait(w);
    act_close(c);
    // No client wants it done any more.
    stage_expect(s, "");
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void release_is_told_as_a_new_beginning(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .fleeting = true);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, SEC(5)));
    stage_expect(s, "c retried 1");
}

static void abandoned_job_can_be_joined(void **state)
{
    struct stage *s = *state;
    struct actor *w = abandoned(s, 0);
    struct actor *d = stage_open(s, "d");

    assert_true(SUBMIT(d, .key = "k", .fleeting = true).joined);
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    stage_expect(s, "d retried 1; d complete 1 r");
}

static void abandoned_job_stays_once_it_is_durable(void **state)
{
    struct stage *s = *state;
    struct actor *w = abandoned(s, 0);

    PUT(s, .key = "k");
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void unwatching_drops_pending_events(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");
    struct watch *first = SUBMIT(c, .key = "k").watch;
    struct watch *second;

    stage_mark(s, first, "/one");
    second = SUBMIT(c, .key = "k").watch;
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "part"));
    stage_unwatch(s, first);
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    stage_expect(s, "c data 1 part; c complete 1 r");
    (void)second;
}

static void watch_may_end_between_the_result_and_its_telling(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");
    struct watch *watch = SUBMIT(c, .queue = "q").watch;

    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "part"));
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    stage_unwatch(s, watch);
    stage_expect(s, "");
}

static void session_that_leaves_is_told_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");
    struct actor *d = stage_open(s, "d");

    SUBMIT(c, .key = "k");
    SUBMIT(d, .key = "k");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "part"));
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    act_close(c);
    stage_expect(s, "d data 1 part; d complete 1 r");
}

static void every_progress_is_told_in_its_place(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_progress(w, 1, 1, 3));
    assert_status(STATUS_OK, act_data(w, 1, "part"));
    assert_status(STATUS_OK, act_progress(w, 1, 2, 3));
    stage_expect(s, "c progress 1 1/3; c data 1 part; c progress 1 2/3");
}

static void progress_of_a_lost_attempt_is_not_told_to_joiners(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    PUT(s, .key = "k", .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_progress(w, 1, 9, 10));
    stage_advance(s, SEC(5));
    SUBMIT(c, .key = "k");
    stage_expect(s, "");
}

static void last_watch_of_a_lost_attempt_that_fails_is_told_once(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .fleeting = true, .max_attempts = 1, .ttr_for = SEC(5), .on_fail = ON_FAIL_DROP);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(5));
    stage_expect(s, "c failed 1");
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(each_submission_is_a_watch_of_its_own),
        STORY(events_of_a_job_are_told_in_order),
        STORY(loss_is_told_between_the_parts_of_two_attempts),
        STORY(new_attempt_is_told_before_the_end_of_the_job_that_made_room_for_it),
        STORY(worker_may_watch_its_own_job),
        STORY(late_joiner_gets_the_last_progress),
        STORY(progress_reported_without_a_watch_is_told_to_a_joiner),
        STORY(joiner_of_a_job_without_progress_is_told_nothing_yet),
        STORY(every_loss_tells_that_the_attempt_is_void),
        STORY(job_that_is_not_durable_ends_with_its_last_watch),
        STORY(durable_job_stays_without_a_watch),
        STORY(abandoned_job_may_be_finished),
        STORY(release_is_told_as_a_new_beginning),
        STORY(abandoned_job_ends_when_it_is_released),
        STORY(abandoned_job_ends_when_it_is_released_with_a_delay),
        STORY(abandoned_job_ends_when_it_is_buried),
        STORY(abandoned_job_ends_when_its_lease_times_out),
        STORY(abandoned_job_ends_with_its_worker),
        STORY(job_that_is_not_durable_ends_with_a_session_that_holds_and_watches_it),
        STORY(abandoned_job_can_be_joined),
        STORY(abandoned_job_stays_once_it_is_durable),
        STORY(unwatching_drops_pending_events),
        STORY(watch_may_end_between_the_result_and_its_telling),
        STORY(session_that_leaves_is_told_nothing),
        STORY(every_progress_is_told_in_its_place),
        STORY(progress_of_a_lost_attempt_is_not_told_to_joiners),
        STORY(last_watch_of_a_lost_attempt_that_fails_is_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
