/* SPDX-License-Identifier: MIT */
// The rights of the caller of a session, and the answers to forbidden verbs.
#include "tests/core/stage.h"
#include "tests/support/rights.h"

// Gives the actor rights on the queues that the glob matches, and no others. True if it lost a
// subscription.
static bool allow(struct actor *a, unsigned rights, const char *glob)
{
    return act_grant(a, &(const struct grant){rights, stage_slice(glob)}, 1);
}

static bool allow_all(struct actor *a)
{
    return act_grant(a, NULL, 0);
}

static enum status try_submit(struct actor *a, const char *queue, bool watched)
{
    struct job_spec spec = {.durable = true, .watched = watched};
    struct submission submission;
    enum status status =
        broker_submit_to(a->stage->broker, stage_slice(queue), &spec, a->session, &submission);

    stage_step(a->stage);
    return status;
}

static enum status try_subscribe(struct actor *a, const char *queue)
{
    const struct subscription_terms terms = {.limit_for = 0};
    enum status status = broker_subscribe(a->session, stage_slice(queue), &terms);

    stage_step(a->stage);
    return status;
}

static enum status try_take(struct actor *a)
{
    const struct job *job;
    enum status status = broker_take(a->session, &job);

    stage_step(a->stage);
    return status;
}

static enum status try_cancel(struct actor *a, uint64_t id, bool even_held)
{
    enum status status = broker_cancel(a->stage->broker, a->session, id, even_held);

    stage_step(a->stage);
    return status;
}

//
// Grants
//

static void only_grants_of_a_right_are_looked_at_for_it(void **state)
{
    const struct grant list[] = {
        {MAY_OBSERVE, SLICE("*z*")}, {MAY_SUBMIT, SLICE("a*")}, {MAY_SUBMIT, SLICE("*b")}};
    struct grants *grants = grants_new(list, 3);
    size_t looked;

    (void)state;
    assert_true(grants_have(grants, MAY_SUBMIT, SLICE("ab"), &looked));
    assert_int_equal(looked, 1);
    assert_true(grants_have(grants, MAY_SUBMIT, SLICE("b"), &looked));
    assert_int_equal(looked, 2);
    assert_false(grants_have(grants, MAY_OBSERVE, SLICE("ab"), &looked));
    assert_int_equal(looked, 1);
    grants_unref(grants);
}

static void comparing_a_name_with_globs_is_charged(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");

    (void)allow(a, MAY_SUBMIT, "*");
    (void)broker_take_links(s->broker);
    assert_false(session_may_by_name(a->session, MAY_WORK, SLICE("q")));
    assert_int_equal(broker_take_links(s->broker), 0);
    assert_true(session_may_by_name(a->session, MAY_SUBMIT, SLICE("q")));
    assert_int_equal(broker_take_links(s->broker), 1);
    assert_true(session_may_by_name(a->session, MAY_SUBMIT, SLICE("0123456789abcdef")));
    assert_int_equal(broker_take_links(s->broker), 2);
}

static void grants_add_up(void **state)
{
    const struct grant list[] = {
        {MAY_SUBMIT, SLICE("a*")}, {MAY_WORK, SLICE("*b")}, {MAY_OBSERVE | MAY_SUBMIT, SLICE("*")}};
    struct grants *grants = grants_new(list, 3);

    (void)state;
    assert_int_equal(rights_on(grants, SLICE("ab")), MAY_SUBMIT | MAY_WORK | MAY_OBSERVE);
    assert_int_equal(rights_on(grants, SLICE("c")), MAY_SUBMIT | MAY_OBSERVE);
    assert_int_equal(grants_somewhere(grants), MAY_SUBMIT | MAY_WORK | MAY_OBSERVE);
    assert_int_equal(grants_everywhere(grants), MAY_SUBMIT | MAY_OBSERVE);
    grants_unref(grants);
}

static void empty_grants_allow_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");
    const struct grant none[1] = {{0}};

    act_grant(a, none, 0);
    assert_false(session_may_somewhere(a->session, MAY_OBSERVE));
    assert_status(STATUS_FORBIDDEN, try_submit(a, "q", false));
}

static void no_grants_allow_everything(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");

    assert_true(session_may_everywhere(a->session, MAY_ADMINISTER));
    assert_true(session_may_everywhere(NULL, MAY_ADMINISTER));
    assert_true(session_may_by_name(a->session, MAY_OPERATE, SLICE("q")));
}

static void right_to_operate_includes_the_right_to_cancel(void **state)
{
    const struct grant list[] = {{MAY_OPERATE, SLICE("q")}};
    struct grants *grants = grants_new(list, 1);

    (void)state;
    assert_int_equal(rights_on(grants, SLICE("q")), MAY_OPERATE | MAY_CANCEL);
    grants_unref(grants);
}

static void grants_are_freed_with_their_last_reference(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");
    struct actor *b = stage_open(s, "b");
    const struct grant list[] = {{MAY_WORK, SLICE("q")}};
    struct grants *grants = grants_new(list, 1);

    // AddressSanitizer detects whether it is used afterwards, and whether it leaks.
    broker_session_grant(a->session, grants);
    broker_session_grant(b->session, grants);
    grants_unref(grants);
    act_close(a);
    assert_true(session_may_by_name(b->session, MAY_WORK, SLICE("q")));
    act_close(b);
}

//
// Submitting
//

static void job_is_submitted_to_an_allowed_queue(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");

    allow(a, MAY_SUBMIT, "mail.*");
    assert_status(STATUS_OK, try_submit(a, "mail.out", false));
    assert_status(STATUS_FORBIDDEN, try_submit(a, "mail", false));
    stage_expect_jobs(s, "mail.out", 1, 0, 0, 0);
}

static void forbidden_submission_makes_no_queue(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");

    allow(a, MAY_EVERYTHING & ~(unsigned)MAY_SUBMIT, "*");
    assert_status(STATUS_FORBIDDEN, try_submit(a, "q", true));
    assert_null(broker_queue_find(s->broker, SLICE("q")));
}

static void forbidden_duplicate_joins_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");
    uint64_t id = PUT(s, .queue = "q", .key = "k");

    allow(a, MAY_WORK | MAY_OBSERVE, "*");
    assert_status(STATUS_FORBIDDEN, stage_try_put(s, a, PLAN(.queue = "q", .key = "k"), NULL));
    assert_int_equal(stage_job(s, id).watches, 0);
}

static void watcher_that_lost_its_rights_is_still_told(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");
    struct actor *w = stage_worker(s, "w", "q");

    SUBMIT(a, .queue = "q");
    allow(a, MAY_SUBMIT, "elsewhere");
    assert_int_equal(act_take(w), 1);
    act_complete(w, 1, "done");
    stage_expect(s, "a complete 1 done");
}

//
// Working
//

static void subscription_needs_the_right_to_work(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");

    allow(a, MAY_WORK, "q");
    assert_status(STATUS_OK, try_subscribe(a, "q"));
    assert_status(STATUS_FORBIDDEN, try_subscribe(a, "r"));
    assert_null(broker_queue_find(s->broker, SLICE("r")));
    assert_int_equal(session_subscriptions(a->session), 1);
}

static void only_allowed_subscriptions_give_jobs(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_worker(s, "a", "default");

    act_subscribe(a, "q");
    assert_true(allow(a, MAY_WORK, "q"));
    PUT(s, .queue = "default");
    assert_status(STATUS_EMPTY, try_take(a));
    PUT(s, .queue = "q", .pri = 9);
    assert_int_equal(act_take(a), 2);
}

static void turn_skips_a_forbidden_subscription(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open_in_turn(s, "a");

    act_subscribe(a, "q!");
    act_subscribe(a, "r");
    act_subscribe(a, "t!");
    for (int i = 0; i < 2; i++) {
        PUT(s, .queue = "q!");
        PUT(s, .queue = "r");
        PUT(s, .queue = "t!");
    }
    assert_true(allow(a, MAY_WORK, "*!"));
    act_drain(a, "3 1 6 4");
    assert_false(allow_all(a));
    act_drain(a, "2 5");
}

static void caller_whose_queues_are_all_forbidden_is_told(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_worker(s, "a", "default");

    allow(a, MAY_SUBMIT, "*");
    PUT(s, .queue = "default");
    assert_status(STATUS_FORBIDDEN, try_take(a));
    assert_status(STATUS_FORBIDDEN, act_wait_until(a, NSEC_NEVER, -1));
    act_unsubscribe(a, "default");
    // Without a queue, nothing is forbidden.
    assert_status(STATUS_EMPTY, try_take(a));
}

static void wait_is_not_served_by_a_forbidden_queue(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_worker(s, "a", "q");

    act_subscribe(a, "r");
    allow(a, MAY_WORK, "r");
    act_wait(a);
    assert_int_equal(stage_queue(s, "q").waiting, 0);
    PUT(s, .queue = "q");
    stage_expect(s, "");
    PUT(s, .queue = "r");
    stage_expect(s, "a leased 2");
}

static void waiting_session_gets_no_job_from_a_queue_that_it_lost(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_worker(s, "a", "q");
    struct actor *b = stage_worker(s, "b", "q");

    act_subscribe(a, "r");
    act_wait(a);
    act_wait(b);
    assert_true(allow(a, MAY_WORK, "r"));
    PUT(s, .queue = "q");
    stage_expect(s, "b leased 1");
    PUT(s, .queue = "r");
    stage_expect(s, "a leased 2");
}

static void waiting_session_gets_jobs_of_a_queue_allowed_again(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_worker(s, "a", "q");

    act_subscribe(a, "r");
    allow(a, MAY_WORK, "r");
    act_wait(a);
    PUT(s, .queue = "q");
    stage_expect(s, "");
    assert_false(allow_all(a));
    stage_expect(s, "a leased 1");
}

static void nudge_comes_only_from_allowed_queues(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_worker(s, "a", "q");

    act_subscribe(a, "r");
    act_await_nudge(a);
    assert_true(allow(a, MAY_WORK, "r"));
    PUT(s, .queue = "q");
    stage_expect(s, "");
    assert_false(allow(a, MAY_WORK, "*"));
    stage_expect(s, "a nudged");
}

static void nudge_for_a_queue_that_was_lost_is_passed_on(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_worker(s, "a", "q");
    struct actor *b = stage_worker(s, "b", "q");

    broker_set_nudges(s->broker, 1);
    act_await_nudge(a);
    act_await_nudge(b);
    PUT(s, .queue = "q");
    stage_expect(s, "a nudged");
    assert_true(allow(a, MAY_WORK, "r"));
    stage_expect(s, "b nudged");
}

static void holder_that_lost_its_rights_still_finishes_its_job(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_worker(s, "a", "q");

    for (int i = 0; i < 5; i++) {
        PUT(s, .queue = "q", .ttr_for = SEC(10));
        assert_int_not_equal(act_take(a), 0);
    }
    allow(a, MAY_SUBMIT, "r");
    assert_status(STATUS_OK, act_touch(a, 1));
    assert_status(STATUS_OK, act_complete(a, 1, NULL));
    assert_status(STATUS_OK, act_release(a, 2, 7, 0));
    assert_status(STATUS_OK, act_bury(a, 3, 7));
    assert_status(STATUS_OK, act_fail(a, 4, NULL));
    assert_status(STATUS_OK, act_progress(a, 5, 1, 2));
}

static void job_of_an_allowed_queue_is_taken_by_its_id(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");

    PUT(s, .queue = "q");
    allow(a, MAY_SUBMIT, "*");
    assert_status(STATUS_NOT_FOUND, act_take_id(a, 1));
    allow(a, MAY_OBSERVE, "*");
    assert_status(STATUS_FORBIDDEN, act_take_id(a, 1));
    assert_status(STATUS_NOT_FOUND, act_take_id(a, 2));
    allow(a, MAY_WORK, "q");
    assert_status(STATUS_OK, act_take_id(a, 1));
}

static void losing_rights_reports_whether_a_subscription_was_lost(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_worker(s, "a", "q");

    assert_false(allow(a, MAY_WORK, "*"));
    assert_false(allow(a, MAY_WORK | MAY_SUBMIT, "q"));
    assert_true(allow(a, MAY_SUBMIT, "q"));
    assert_false(allow(a, MAY_OBSERVE, "q"));
    assert_false(allow_all(a));
}

//
// Acts on jobs
//

static void job_is_cancelled_with_the_right_to_cancel(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");

    PUT(s, .queue = "q");
    allow(a, MAY_SUBMIT | MAY_WORK, "*");
    assert_status(STATUS_NOT_FOUND, try_cancel(a, 1, false));
    allow(a, MAY_OBSERVE, "*");
    assert_status(STATUS_FORBIDDEN, try_cancel(a, 1, false));
    allow(a, MAY_CANCEL, "q");
    assert_status(STATUS_OK, try_cancel(a, 1, false));
}

static void held_job_is_cancelled_with_the_right_to_operate(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    allow(a, MAY_CANCEL | MAY_OBSERVE, "q");
    assert_status(STATUS_HELD, try_cancel(a, 1, false));
    assert_status(STATUS_FORBIDDEN, try_cancel(a, 1, true));
    allow(a, MAY_OPERATE, "q");
    assert_status(STATUS_OK, try_cancel(a, 1, true));
}

static void to_create_and_to_forget_need_the_right_to_operate(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");

    assert_false(session_has_grants(a->session));
    allow(a, MAY_EVERYTHING & ~(unsigned)MAY_OPERATE, "q");
    assert_true(session_has_grants(a->session));
    assert_status(STATUS_FORBIDDEN, broker_queue_create(s->broker, a->session, SLICE("q")));
    assert_null(stage_find(s, "q"));
    // It is not told whether the queue exists.
    assert_status(STATUS_FORBIDDEN, broker_queue_forget(s->broker, a->session, SLICE("q")));
    assert_status(STATUS_OK, broker_queue_create(s->broker, NULL, SLICE("q")));
    assert_status(STATUS_FORBIDDEN, broker_queue_forget(s->broker, a->session, SLICE("q")));
    allow(a, MAY_OPERATE, "q");
    assert_status(STATUS_OK, broker_queue_create(s->broker, a->session, SLICE("q")));
    assert_status(STATUS_OK, broker_queue_forget(s->broker, a->session, SLICE("q")));
    assert_null(stage_find(s, "q"));
    assert_status(STATUS_FORBIDDEN, broker_queue_create(s->broker, a->session, SLICE("other")));
}

static void kick_pause_and_limits_need_the_right_to_operate(void **state)
{
    static const uint32_t limits[BAND_COUNT] = {1, 1, 1};
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");
    uint64_t id = PUT_BURIED(s, .queue = "q");
    struct queue *queue = stage_find(s, "q");
    struct kick kick;

    allow(a, MAY_SUBMIT | MAY_WORK | MAY_OBSERVE | MAY_CANCEL, "*");
    assert_status(STATUS_FORBIDDEN, broker_kick_begin(a->session, queue, 1, &kick));
    assert_status(STATUS_FORBIDDEN, broker_kick_id(s->broker, a->session, id));
    assert_status(STATUS_FORBIDDEN, broker_pause(s->broker, a->session, queue, SEC(1)));
    assert_status(STATUS_FORBIDDEN, broker_queue_limit(a->session, queue, limits));
    assert_int_equal(stage_queue(s, "q").limits[BAND_HIGH], 0);
    assert_int_equal(stage_queue(s, "q").pause_for, 0);
    assert_int_equal(stage_state(s, id), JOB_BURIED);
    allow(a, MAY_OPERATE, "q");
    assert_status(STATUS_OK, broker_kick_begin(a->session, queue, 1, &kick));
    assert_status(STATUS_OK, broker_queue_limit(a->session, queue, limits));
    assert_status(STATUS_OK, broker_kick_id(s->broker, a->session, id));
    assert_status(STATUS_OK, broker_pause(s->broker, a->session, queue, SEC(1)));
}

static void job_that_may_not_be_observed_is_not_found(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");
    uint64_t id = PUT_BURIED(s, .queue = "q");

    allow(a, MAY_SUBMIT, "*");
    assert_status(STATUS_NOT_FOUND, broker_kick_id(s->broker, a->session, id));
    assert_status(STATUS_NOT_FOUND, broker_kick_id(s->broker, a->session, id + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(grants_add_up),
        STORY(only_grants_of_a_right_are_looked_at_for_it),
        STORY(comparing_a_name_with_globs_is_charged),
        STORY(empty_grants_allow_nothing),
        STORY(no_grants_allow_everything),
        STORY(right_to_operate_includes_the_right_to_cancel),
        STORY(grants_are_freed_with_their_last_reference),
        STORY(job_is_submitted_to_an_allowed_queue),
        STORY(forbidden_submission_makes_no_queue),
        STORY(forbidden_duplicate_joins_nothing),
        STORY(watcher_that_lost_its_rights_is_still_told),
        STORY(subscription_needs_the_right_to_work),
        STORY(only_allowed_subscriptions_give_jobs),
        STORY(turn_skips_a_forbidden_subscription),
        STORY(caller_whose_queues_are_all_forbidden_is_told),
        STORY(wait_is_not_served_by_a_forbidden_queue),
        STORY(waiting_session_gets_no_job_from_a_queue_that_it_lost),
        STORY(waiting_session_gets_jobs_of_a_queue_allowed_again),
        STORY(nudge_comes_only_from_allowed_queues),
        STORY(nudge_for_a_queue_that_was_lost_is_passed_on),
        STORY(holder_that_lost_its_rights_still_finishes_its_job),
        STORY(job_of_an_allowed_queue_is_taken_by_its_id),
        STORY(losing_rights_reports_whether_a_subscription_was_lost),
        STORY(job_is_cancelled_with_the_right_to_cancel),
        STORY(held_job_is_cancelled_with_the_right_to_operate),
        STORY(kick_pause_and_limits_need_the_right_to_operate),
        STORY(to_create_and_to_forget_need_the_right_to_operate),
        STORY(job_that_may_not_be_observed_is_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
