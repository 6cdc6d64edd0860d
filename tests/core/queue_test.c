/* SPDX-License-Identifier: MIT */
// Queues: their references, their limits, and their properties.
#include "tests/core/stage.h"

#include <string.h>

static struct queue *hold(struct stage *s, const char *name)
{
    struct queue *queue = NULL;

    assert_status(STATUS_OK, broker_queue_hold(s->broker, stage_slice(name), &queue));
    stage_step(s);
    return queue;
}

static void drop(struct stage *s, struct queue *queue)
{
    broker_queue_drop(s->broker, queue);
    stage_step(s);
}

static void queue_lives_as_long_as_it_has_a_reference(void **state)
{
    struct stage *s = *state;
    struct queue *one = hold(s, "q");
    struct actor *w;

    assert_ptr_equal(hold(s, "q"), one);
    assert_int_equal(stage_queue(s, "q").holders, 2);
    drop(s, one);
    assert_non_null(stage_find(s, "q"));
    w = stage_worker(s, "w", "q");
    drop(s, one);
    assert_int_equal(stage_queue(s, "q").subscriptions, 1);
    PUT(s, .queue = "q");
    act_unsubscribe(w, "q");
    assert_non_null(stage_find(s, "q"));
    assert_status(STATUS_OK, act_take_id(w, 1));
    assert_non_null(stage_find(s, "q"));
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_null(stage_find(s, "q"));
    assert_int_equal(stage_info(s).queues, 0);
}

static void queue_is_removed_with_its_last_session(void **state)
{
    struct stage *s = *state;

    act_close(stage_worker(s, "w", "q"));
    stage_settle(s);
    assert_null(stage_find(s, "q"));
}

static void buried_and_delayed_jobs_keep_their_queue(void **state)
{
    struct stage *s = *state;

    PUT_BURIED(s, .queue = "a");
    PUT(s, .queue = "b", .delay_for = SEC(1));
    stage_settle(s);
    assert_int_equal(stage_info(s).queues, 2);
    assert_status(STATUS_OK, stage_cancel(s, 1));
    assert_status(STATUS_OK, stage_cancel(s, 2));
    assert_int_equal(stage_info(s).queues, 0);
}

static void kept_queue_stays_when_empty(void **state)
{
    struct stage *s = *state;
    struct queue *queue = hold(s, "q");

    broker_queue_keep(s->broker, queue, true);
    drop(s, queue);
    assert_non_null(stage_find(s, "q"));
    assert_true(stage_queue(s, "q").kept);
    broker_queue_keep(s->broker, queue, false);
    stage_step(s);
    assert_null(stage_find(s, "q"));
    queue = hold(s, "q");
    broker_queue_keep(s->broker, queue, true);
    broker_queue_keep(s->broker, queue, false);
    assert_non_null(stage_find(s, "q"));
    drop(s, queue);
    assert_null(stage_find(s, "q"));
}

static void queue_that_is_made_again_counts_from_zero(void **state)
{
    struct stage *s = *state;

    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_cancel(s, 1));
    PUT(s, .queue = "q");
    assert_int_equal(stage_queue(s, "q").total_jobs, 1);
    assert_int_equal(stage_queue(s, "q").ended, 0);
    assert_int_equal(stage_info(s).total_jobs, 2);
}

static void names_are_bytes_within_bounds(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");
    struct subscription_terms terms = {0};
    struct queue *queue = NULL;
    char name[QUEUE_NAME_MAX + 1];
    struct slice odd = slice_of(" \xff\r\n\x01", 5);

    memset(name, 'n', sizeof name);
    assert_status(STATUS_BAD_NAME, broker_queue_hold(s->broker, SLICE(""), &queue));
    assert_status(STATUS_BAD_NAME, broker_queue_hold(s->broker, slice_of("a\0b", 3), &queue));
    assert_status(STATUS_BAD_NAME, broker_subscribe(w->session, SLICE(""), &terms));
    assert_status(STATUS_TOO_LARGE,
                  broker_queue_hold(s->broker, slice_of(name, sizeof name), &queue));
    assert_status(STATUS_TOO_LARGE,
                  broker_subscribe(w->session, slice_of(name, sizeof name), &terms));
    assert_int_equal(stage_info(s).queues, 0);
    assert_status(STATUS_OK, broker_queue_hold(s->broker, slice_of(name, QUEUE_NAME_MAX), &queue));
    assert_int_equal(queue_name(queue).len, QUEUE_NAME_MAX);
    drop(s, queue);
    assert_status(STATUS_OK, broker_queue_hold(s->broker, odd, &queue));
    assert_true(slice_equal(queue_name(queue), odd));
    drop(s, queue);
}

static void walk_sees_each_queue_once(void **state)
{
    struct stage *s = *state;
    uint32_t cursor = 0;
    uint64_t seen = 0;
    struct queue *queue;
    char name[32];

    for (int i = 0; i < 500; i++) {
        (void)snprintf(name, sizeof name, "queue-%d", i);
        PUT(s, .queue = name);
    }
    while ((queue = broker_queue_next(s->broker, &cursor)) != NULL) {
        uint64_t id = job_id(queue_peek_ready(queue));

        // Seen queues are removed, others come meanwhile: none is seen twice.
        seen++;
        assert_status(STATUS_OK, stage_cancel(s, id));
        (void)snprintf(name, sizeof name, "new-%d", (int)seen);
        if (seen < 100) {
            PUT(s, .queue = name);
        }
        assert_true(seen <= 600);
    }
    assert_true(seen >= 500);
}

static void subscriptions_are_listed_in_order(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");
    const struct subscription *cursor = NULL;
    struct queue *queue;
    char names[16] = "";

    act_subscribe(w, "b");
    act_subscribe(w, "a");
    act_subscribe(w, "c");
    act_subscribe(w, "a");
    act_subscribe(w, "d");
    act_unsubscribe(w, "c");
    assert_int_equal(session_subscriptions(w->session), 3);
    assert_true(session_subscribed(w->session, SLICE("a")));
    assert_false(session_subscribed(w->session, SLICE("c")));
    while ((queue = session_queue_next(w->session, &cursor)) != NULL) {
        strncat(names, queue_name(queue).ptr, queue_name(queue).len);
    }
    assert_string_equal(names, "bad");
}

static void expect_next(struct subscription_walk *walk, const char *name)
{
    const struct queue *queue = subscription_walk_next(walk);

    assert_non_null(queue);
    assert_true(slice_equal(queue_name(queue), stage_slice(name)));
}

static void walk_continues_while_subscriptions_change(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");
    struct subscription_walk walks[2];

    for (char name[] = "a"; *name <= 'g'; ++*name) {
        act_subscribe(w, name);
    }
    for (size_t i = 0; i < 2; i++) {
        subscription_walk_begin(&walks[i], w->session);
        expect_next(&walks[i], "g");
        assert_true(subscription_walk_keep(&walks[i]));
    }
    act_unsubscribe(w, "g");
    act_subscribe(w, "g");
    act_unsubscribe(w, "f");
    act_unsubscribe(w, "e");
    expect_next(&walks[0], "d");
    act_unsubscribe(w, "b");
    act_subscribe(w, "b");
    expect_next(&walks[0], "c");
    expect_next(&walks[0], "a");
    assert_null(subscription_walk_next(&walks[0]));
    expect_next(&walks[1], "d");
    subscription_walk_end(&walks[1]);
    assert_null(subscription_walk_next(&walks[1]));
    act_unsubscribe(w, "c");
    subscription_walk_end(&walks[0]);
}

static void walk_ends_with_its_last_subscription_and_with_its_session(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");
    struct subscription_walk last, walk;

    subscription_walk_begin(&walk, w->session);
    assert_null(subscription_walk_next(&walk));
    assert_true(subscription_walk_keep(&walk));
    act_subscribe(w, "a");
    act_subscribe(w, "b");
    subscription_walk_begin(&walk, w->session);
    subscription_walk_begin(&last, w->session);
    expect_next(&last, "b");
    assert_true(subscription_walk_keep(&walk));
    assert_true(subscription_walk_keep(&last));
    act_unsubscribe(w, "a");
    assert_null(subscription_walk_next(&last));
    act_close(w);
    assert_null(subscription_walk_next(&walk));
    subscription_walk_end(&last);
    subscription_walk_end(&walk);
}

static void created_queue_stays_until_it_is_forgotten(void **state)
{
    struct stage *s = *state;
    const uint32_t limits[BAND_COUNT] = {1, 1, 1};
    struct queue *queue;

    assert_status(STATUS_NOT_FOUND, broker_queue_forget(s->broker, NULL, SLICE("q")));
    assert_status(STATUS_BAD_NAME, broker_queue_create(s->broker, NULL, SLICE("")));
    assert_status(STATUS_OK, broker_queue_create(s->broker, NULL, SLICE("q")));
    assert_status(STATUS_OK, broker_queue_create(s->broker, NULL, SLICE("q")));
    stage_step(s);
    assert_true(stage_queue(s, "q").kept);
    assert_status(STATUS_OK, broker_queue_limit(NULL, stage_find(s, "q"), limits));
    // A reference keeps it a little longer, but not its limits.
    queue = hold(s, "q");
    assert_status(STATUS_OK, broker_queue_forget(s->broker, NULL, SLICE("q")));
    assert_false(stage_queue(s, "q").kept);
    assert_int_equal(stage_queue(s, "q").limits[BAND_LOW], 0);
    drop(s, queue);
    assert_null(stage_find(s, "q"));
}

static void queue_in_use_is_not_forgotten(void **state)
{
    struct stage *s = *state;
    struct actor *w;

    assert_status(STATUS_OK, broker_queue_create(s->broker, NULL, SLICE("q")));
    PUT_BURIED(s, .queue = "q");
    assert_status(STATUS_IN_USE, broker_queue_forget(s->broker, NULL, SLICE("q")));
    assert_status(STATUS_OK, stage_cancel(s, 1));
    w = stage_worker(s, "w", "q");
    assert_status(STATUS_IN_USE, broker_queue_forget(s->broker, NULL, SLICE("q")));
    act_unsubscribe(w, "q");
    assert_true(stage_queue(s, "q").kept);
    assert_status(STATUS_OK, broker_queue_forget(s->broker, NULL, SLICE("q")));
    assert_null(stage_find(s, "q"));
}

static void limits_bind_submissions_by_their_band(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    const uint32_t limits[BAND_COUNT] = {0, 3, 2};

    assert_int_equal(STATUS_OK, broker_queue_limit(NULL, stage_find(s, "q"), limits));
    assert_memory_equal(stage_queue(s, "q").limits, limits, sizeof limits);
    PUT(s, .pri = PRI_LOW);
    PUT(s, .pri = PRI_LOW, .delay_for = SEC(1));
    assert_status(STATUS_QUEUE_FULL, stage_try_put(s, NULL, PLAN(.pri = PRI_LOW), NULL));
    PUT(s, .pri = PRI_NORMAL);
    assert_status(STATUS_QUEUE_FULL, stage_try_put(s, NULL, PLAN(.pri = PRI_NORMAL), NULL));
    PUT(s, .pri = PRI_HIGH);
    assert_int_equal(act_take(w), 4);
    // Held jobs count, buried ones do not.
    assert_status(STATUS_QUEUE_FULL, stage_try_put(s, NULL, PLAN(.pri = PRI_NORMAL), NULL));
    assert_status(STATUS_OK, act_bury(w, 4, 0));
    assert_status(STATUS_QUEUE_FULL, stage_try_put(s, NULL, PLAN(.pri = PRI_NORMAL), NULL));
    assert_status(STATUS_OK, stage_cancel(s, 3));
    PUT(s, .pri = PRI_NORMAL);
    assert_int_equal(stage_queue(s, "q").total_jobs, 5);
}

static enum status try_hold(struct stage *s, const char *name)
{
    struct queue *queue;
    enum status status = broker_queue_hold(s->broker, stage_slice(name), &queue);

    if (status == STATUS_OK) {
        broker_queue_drop(s->broker, queue);
    }
    stage_step(s);
    return status;
}

static void queue_made_by_a_submission_is_removed_with_its_last_job(void **state)
{
    struct stage *s = *state;
    struct job_spec spec = {.durable = true};
    struct submission submission;

    assert_status(STATUS_OK, broker_submit_to(s->broker, SLICE("q"), &spec, NULL, &submission));
    assert_non_null(broker_queue_find(s->broker, SLICE("q")));
    assert_status(STATUS_OK, stage_cancel(s, submission.id));
    assert_null(broker_queue_find(s->broker, SLICE("q")));
}

static void queues_are_made_up_to_their_limit(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "a");
    const struct subscription_terms terms = {.limit_for = 0};
    struct job_spec spec = {.durable = true};
    struct submission submission;

    broker_set_max_queues(s->broker, 2);
    PUT(s, .queue = "b");
    assert_status(STATUS_TOO_MANY_QUEUES, try_hold(s, "c"));
    assert_status(STATUS_TOO_MANY_QUEUES, broker_subscribe(w->session, SLICE("c"), &terms));
    assert_status(STATUS_TOO_MANY_QUEUES,
                  broker_submit_to(s->broker, SLICE("c"), &spec, NULL, &submission));
    assert_null(broker_queue_find(s->broker, SLICE("c")));
    // Existing queues are not affected.
    assert_status(STATUS_OK, try_hold(s, "a"));
    PUT(s, .queue = "b");
    act_unsubscribe(w, "a");
    assert_status(STATUS_OK, try_hold(s, "c"));
    broker_set_max_queues(s->broker, 1);
    assert_status(STATUS_TOO_MANY_QUEUES, try_hold(s, "d"));
    broker_set_max_queues(s->broker, 0);
    assert_status(STATUS_OK, try_hold(s, "d"));
}

static void queue_that_a_front_end_needs_is_made_beyond_the_limit(void **state)
{
    struct stage *s = *state;
    struct queue *queue;

    broker_set_max_queues(s->broker, 1);
    PUT(s, .queue = "a");
    assert_status(STATUS_OK, broker_queue_hold_uncapped(s->broker, SLICE("default"), &queue));
    broker_queue_drop(s->broker, queue);
}

static void draining_refuses_every_submission(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .key = "k");
    assert_false(stage_info(s).draining);
    broker_drain(s->broker);
    assert_true(stage_info(s).draining);
    assert_status(STATUS_DRAINING, stage_try_put(s, NULL, PLAN(.queue = "q"), NULL));
    assert_status(STATUS_DRAINING, stage_try_put(s, w, PLAN(.key = "k"), NULL));
    assert_int_equal(stage_job(s, 1).watches, 0);
    act_drain(w, "1");
}

static void queue_counts_its_jobs(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct queue_info info;

    PUT(s, .pri = 0);
    PUT(s, .pri = PRI_HIGH);
    PUT(s, .pri = PRI_NORMAL);
    PUT(s, .pri = PRI_LOW);
    PUT(s, .delay_for = SEC(9));
    PUT_BURIED(s, .pri = 5);
    info = stage_queue(s, "q");
    assert_int_equal(info.ready[BAND_HIGH], 2);
    assert_int_equal(info.ready[BAND_NORMAL], 1);
    assert_int_equal(info.ready[BAND_LOW], 1);
    assert_int_equal(info.total_jobs, 6);
    assert_int_equal(act_take(w), 1);
    stage_expect_jobs(s, "q", 3, 1, 1, 1);
    assert_int_equal(stage_queue(s, "q").ready[BAND_HIGH], 1);
    assert_status(STATUS_OK, act_release(w, 1, PRI_LOW, 0));
    assert_int_equal(stage_queue(s, "q").ready[BAND_LOW], 2);
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_complete(w, 2, NULL));
    assert_status(STATUS_OK, stage_cancel(s, 3));
    assert_int_equal(stage_queue(s, "q").ended, 2);
}

static void broker_counts_over_all_queues(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "a");
    struct broker_info info;

    PUT(s, .queue = "a", .pri = PRI_HIGH, .ttr_for = SEC(1));
    PUT(s, .queue = "b", .pri = PRI_NORMAL);
    PUT(s, .queue = "c", .delay_for = SEC(9));
    PUT_BURIED(s, .queue = "d");
    assert_int_equal(act_take(w), 1);
    stage_settle(s);
    info = stage_info(s);
    assert_int_equal(info.jobs[JOB_READY], 1);
    assert_int_equal(info.jobs[JOB_DELAYED], 1);
    assert_int_equal(info.jobs[JOB_RESERVED], 1);
    assert_int_equal(info.jobs[JOB_BURIED], 1);
    assert_int_equal(info.ready[BAND_HIGH], 0);
    assert_int_equal(info.ready[BAND_NORMAL], 1);
    assert_int_equal(info.total_jobs, 4);
    assert_int_equal(info.queues, 4);
    assert_int_equal(info.sessions, 1);
    stage_advance(s, SEC(1));
    assert_int_equal(stage_info(s).timeouts, 1);
    assert_int_equal(stage_info(s).ready[BAND_HIGH], 1);
}

static void ids_start_where_the_host_says(void **state)
{
    struct stage *s = stage_new((struct broker_options){.first_id = UINT64_C(1) << 40}, false);

    (void)state;
    assert_int_equal(PUT(s, .queue = "q"), UINT64_C(1) << 40);
    assert_int_equal(PUT(s, .queue = "q"), (UINT64_C(1) << 40) + 1);
    stage_free(s);
}

static void contract_of_a_job_can_be_read_back(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct job_info info;

    SUBMIT(c, .pri = 77, .ttr_for = SEC(9), .max_attempts = JOB_ATTEMPTS_MAX, .reducer = "sum",
           .key = "k", .on_fail = ON_FAIL_DROP, .on_loss = ON_LOSS_BACK, .fleeting = true);
    info = stage_job(s, 1);
    assert_int_equal(info.pri, 77);
    assert_int_equal(info.ttr_for, SEC(9));
    assert_int_equal(info.max_attempts, JOB_ATTEMPTS_MAX);
    assert_int_equal(info.on_fail, ON_FAIL_DROP);
    assert_int_equal(info.on_loss, ON_LOSS_BACK);
    assert_false(info.durable);
    assert_int_equal(info.watches, 1);
    assert_int_equal(info.key_kind, KEY_NAME);
    assert_true(slice_equal(info.key, SLICE("k")));
    assert_true(slice_equal(info.reducer, SLICE("sum")));
    assert_ptr_equal(info.queue, stage_find(s, "q"));
    assert_ptr_equal(job_queue(s->broker, broker_find(s->broker, 1)), info.queue);
    assert_int_equal(info.reserves + info.timeouts + info.releases + info.buries + info.kicks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(queue_lives_as_long_as_it_has_a_reference),
        STORY(queue_is_removed_with_its_last_session),
        STORY(buried_and_delayed_jobs_keep_their_queue),
        STORY(kept_queue_stays_when_empty),
        STORY(queue_that_is_made_again_counts_from_zero),
        STORY(names_are_bytes_within_bounds),
        STORY(walk_sees_each_queue_once),
        STORY(subscriptions_are_listed_in_order),
        STORY(walk_continues_while_subscriptions_change),
        STORY(walk_ends_with_its_last_subscription_and_with_its_session),
        STORY(created_queue_stays_until_it_is_forgotten),
        STORY(queue_in_use_is_not_forgotten),
        STORY(limits_bind_submissions_by_their_band),
        STORY(queue_made_by_a_submission_is_removed_with_its_last_job),
        STORY(queues_are_made_up_to_their_limit),
        STORY(queue_that_a_front_end_needs_is_made_beyond_the_limit),
        STORY(draining_refuses_every_submission),
        STORY(queue_counts_its_jobs),
        STORY(broker_counts_over_all_queues),
        cmocka_unit_test(ids_start_where_the_host_says),
        STORY(contract_of_a_job_can_be_read_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
