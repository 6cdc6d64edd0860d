/* SPDX-License-Identifier: MIT */

// Leases of a session that lives only as long as its leases: it is told when it no longer holds a
// job, and sets for how long it holds one.

#include "tests/core/stage.h"

// A session that counts these events.
struct tenant {
    struct session *session;
    unsigned leased, emptied;
};

static void on_leased(void *owner, const struct job *job)
{
    (void)job;
    ((struct tenant *)owner)->leased++;
}

static void on_emptied(void *owner)
{
    ((struct tenant *)owner)->emptied++;
}

static const struct session_ops ops = {.leased = on_leased, .emptied = on_emptied};

static void open(struct stage *s, struct tenant *tenant)
{
    const struct subscription_terms terms = {0};

    *tenant = (struct tenant){0};
    assert_status(STATUS_OK,
                  broker_session_open(s->broker, &ops, tenant, CHOICE_OLDEST, &tenant->session));
    assert_status(STATUS_OK, broker_subscribe(tenant->session, SLICE("q"), &terms));
    stage_step(s);
}

static void take(struct tenant *tenant)
{
    const struct job *job;

    assert_status(STATUS_OK, broker_take(tenant->session, &job));
}

static void is_told(struct stage *s, struct tenant *tenant, unsigned times)
{
    stage_settle(s);
    assert_int_equal(tenant->emptied, times);
    tenant->emptied = 0;
}

static void session_is_told_when_the_last_of_its_jobs_has_left_it(void **state)
{
    struct stage *s = *state;
    struct tenant t;

    open(s, &t);
    PUT(s, .ttr_for = SEC(5));
    PUT(s, .ttr_for = SEC(9));
    take(&t);
    take(&t);
    is_told(s, &t, 0);
    stage_advance(s, SEC(5));
    is_told(s, &t, 0);
    stage_advance(s, SEC(4));
    is_told(s, &t, 1);
    take(&t);
    assert_status(STATUS_OK, broker_complete(t.session, 1, NULL));
    is_told(s, &t, 1);
    take(&t);
    assert_status(STATUS_OK, stage_act(s, NULL, 2, ACT(.kind = ACT_DELETE)));
    is_told(s, &t, 1);
    broker_session_close(t.session);
}

static void session_that_holds_another_job_by_then_is_not_told(void **state)
{
    struct stage *s = *state;
    struct tenant t;

    open(s, &t);
    PUT(s, .ttr_for = SEC(5));
    PUT(s, .ttr_for = SEC(5));
    take(&t);
    assert_status(STATUS_OK, broker_complete(t.session, 1, NULL));
    take(&t);
    is_told(s, &t, 0);
    assert_status(STATUS_OK, broker_touch(t.session, 2));
    stage_advance(s, SEC(1));
    assert_status(STATUS_OK, broker_touch(t.session, 2));
    is_told(s, &t, 0);
    broker_session_close(t.session);
}

static void session_that_lost_a_job_before_it_was_told_of_it_waits_on(void **state)
{
    struct stage *s = *state;
    struct tenant t;

    open(s, &t);
    assert_status(STATUS_OK, broker_wait(t.session, NSEC_NEVER, -1));
    PUT(s, .ttr_for = SEC(5));
    assert_int_equal(session_leases(t.session), 1);
    assert_status(STATUS_OK, stage_cancel_held(s, 1));
    is_told(s, &t, 0);
    PUT(s, .ttr_for = SEC(5));
    stage_settle(s);
    assert_int_equal(t.leased, 1);
    broker_session_close(t.session);
}

static void emptied_event_outlasts_the_end_of_a_wait(void **state)
{
    struct stage *s = *state;
    struct tenant t;

    open(s, &t);
    PUT(s, .ttr_for = SEC(5));
    take(&t);
    assert_status(STATUS_OK, broker_complete(t.session, 1, NULL));
    assert_status(STATUS_OK, broker_wait(t.session, NSEC_NEVER, -1));
    assert_true(broker_unwait(t.session));
    is_told(s, &t, 1);
    broker_session_close(t.session);
}

static void closed_session_is_told_nothing(void **state)
{
    struct stage *s = *state;
    struct tenant t;

    open(s, &t);
    PUT(s, .ttr_for = SEC(5));
    take(&t);
    assert_status(STATUS_OK, broker_complete(t.session, 1, NULL));
    broker_session_close(t.session);
    is_told(s, &t, 0);
}

static void holder_sets_a_limit_to_a_job_without_one(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .max_attempts = 2);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, broker_limit(w->session, 1, SEC(10)));
    stage_advance(s, SEC(9));
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(1));
    assert_status(STATUS_OK, act_touch(w, 1));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(1));
    stage_advance(s, SEC(1));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(stage_job(s, 1).attempts, 1);
    assert_int_equal(stage_job(s, 1).timeouts, 1);
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, NULL));
    assert_status(STATUS_NOT_FOUND, broker_limit(w->session, 1, SEC(10)));
}

static void limit_that_is_set_again_starts_again_with_the_time_to_run(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(60));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, broker_limit(w->session, 1, SEC(10)));
    stage_advance(s, SEC(9));
    assert_status(STATUS_OK, broker_limit(w->session, 1, SEC(10)));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(10));
    assert_status(STATUS_OK, broker_limit(w->session, 1, SEC(100)));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(60));
    stage_advance(s, SEC(50));
    assert_status(STATUS_OK, act_touch(w, 1));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(50));
    assert_status(STATUS_OK, broker_limit(w->session, 1, 0));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(60));
    stage_advance(s, SEC(59));
    assert_status(STATUS_OK, act_touch(w, 1));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(60));
}

static void
limit_of_the_holder_does_not_fail_the_job_as_that_of_its_subscription_would(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");
    struct actor *v = stage_worker(s, "v", "q");

    PUT(s, .ttr_for = SEC(60));
    act_subscribe_on(w, "q", SEC(5), ON_LIMIT_FAIL);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    assert_int_equal(act_take(v), 1);
    assert_status(STATUS_OK, broker_limit(v->session, 1, SEC(5)));
    stage_advance(s, SEC(5));
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(session_is_told_when_the_last_of_its_jobs_has_left_it),
        STORY(session_that_holds_another_job_by_then_is_not_told),
        STORY(session_that_lost_a_job_before_it_was_told_of_it_waits_on),
        STORY(emptied_event_outlasts_the_end_of_a_wait),
        STORY(closed_session_is_told_nothing),
        STORY(holder_sets_a_limit_to_a_job_without_one),
        STORY(limit_that_is_set_again_starts_again_with_the_time_to_run),
        STORY(limit_of_the_holder_does_not_fail_the_job_as_that_of_its_subscription_would),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
