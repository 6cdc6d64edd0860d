/* SPDX-License-Identifier: MIT */
#include "tests/core/stage.h"
#include "tests/support/broker_check.h"
#include "tests/support/policies.h"

#include <stdio.h>
#include <stdlib.h>

//
// Events of actors
//

static bool told(struct stage *s)
{
    assert_true(s->settling);
    s->tellings++;
    return !s->mute;
}

static void on_leased(void *owner, const struct job *job)
{
    struct actor *a = owner;
    struct job_info info;

    if (told(a->stage)) {
        broker_job_info(a->stage->broker, job, &info);
        assert_int_equal(info.state, JOB_RESERVED);
        assert_true(job_held_by(a->stage->broker, job, a->session));
        stage_text_add(&a->stage->told, "%s leased %llu", a->name, (unsigned long long)info.id);
    }
}

static void on_wait_over(void *owner, enum wait_end why)
{
    struct actor *a = owner;

    if (told(a->stage)) {
        stage_text_add(&a->stage->told, "%s %s", a->name,
                       why == WAIT_TIMED_OUT ? "timed_out" : "lease_soon");
    }
}

static void on_nudged(void *owner)
{
    struct actor *a = owner;

    if (told(a->stage)) {
        stage_text_add(&a->stage->told, "%s nudged", a->name);
    }
}

static const char *event_name(enum job_event_kind kind)
{
    static const char *const names[] = {
        [JOB_EVENT_PROGRESS] = "progress",   [JOB_EVENT_DATA] = "data",
        [JOB_EVENT_WARNING] = "warning",     [JOB_EVENT_RETRIED] = "retried",
        [JOB_EVENT_COMPLETE] = "complete",   [JOB_EVENT_FAILED] = "failed",
        [JOB_EVENT_EXCEPTION] = "exception", [JOB_EVENT_CANCELLED] = "cancelled",
    };

    return names[kind];
}

static void on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    struct actor *a = owner;
    struct slice data = event->data ? blob_slice(event->data) : SLICE("");
    const char *mark = "";
    char numbers[48] = "";

    for (size_t i = 0; i < STAGE_MARKS; i++) {
        if (a->stage->marks[i].watch == watch) {
            mark = a->stage->marks[i].text;
        }
    }
    a->stage->event_at = event->position;
    if (!told(a->stage)) {
        return;
    }
    if (event->kind == JOB_EVENT_PROGRESS) {
        (void)snprintf(numbers, sizeof numbers, " %llu/%llu", (unsigned long long)event->numerator,
                       (unsigned long long)event->denominator);
    }
    stage_text_add(&a->stage->told, "%s%s %s %llu%s%s%.*s", a->name, mark, event_name(event->kind),
                   (unsigned long long)event->job_id, numbers, data.len ? " " : "", (int)data.len,
                   data.len ? data.ptr : "");
}

static const struct session_ops actor_ops = {
    .leased = on_leased,
    .wait_over = on_wait_over,
    .nudged = on_nudged,
    .job_event = on_job_event,
};

//
// Actors
//

static struct actor *open_actor(struct stage *s, const char *name, enum choice choice)
{
    struct actor *a = s->actors;

    while (a->session) {
        a++;
        assert_true(a < s->actors + STAGE_ACTORS);
    }
    a->stage = s;
    (void)snprintf(a->name, sizeof a->name, "%s", name);
    assert_status(STATUS_OK, broker_session_open(s->broker, &actor_ops, a, choice, &a->session));
    stage_step(s);
    return a;
}

struct actor *stage_open(struct stage *s, const char *name)
{
    return open_actor(s, name, CHOICE_OLDEST);
}

struct actor *stage_open_in_turn(struct stage *s, const char *name)
{
    return open_actor(s, name, CHOICE_IN_TURN);
}

struct actor *stage_worker(struct stage *s, const char *name, const char *queue)
{
    struct actor *a = stage_open(s, name);

    act_subscribe(a, queue);
    return a;
}

void act_close(struct actor *a)
{
    if (a->session) {
        broker_session_close(a->session);
        a->session = NULL;
        stage_step(a->stage);
    }
}

void act_subscribe_on(struct actor *a, const char *queue, nsec_t limit_for, enum on_limit on_limit)
{
    struct subscription_terms terms = {.limit_for = limit_for, .on_limit = on_limit};

    assert_status(STATUS_OK, broker_subscribe(a->session, stage_slice(queue), &terms));
    stage_step(a->stage);
}

void act_subscribe(struct actor *a, const char *queue)
{
    act_subscribe_on(a, queue, 0, ON_LIMIT_RETRY);
}

void act_unsubscribe(struct actor *a, const char *queue)
{
    assert_status(STATUS_OK, broker_unsubscribe(a->session, stage_slice(queue), false));
    stage_step(a->stage);
}

void act_give_back(struct actor *a, const char *queue)
{
    enum status status;

    do {
        status = broker_unsubscribe(a->session, stage_slice(queue), true);
        stage_step(a->stage);
    } while (status == STATUS_MORE);
    assert_status(STATUS_OK, status);
}

enum grant_progress act_grant_slice(struct actor *a, const struct grant *list, size_t count)
{
    struct grants *grants = list ? grants_new(list, count) : NULL;
    enum grant_progress progress = broker_session_grant(a->session, grants);

    assert_true(grants || !list);
    grants_unref(grants);
    stage_step(a->stage);
    return progress;
}

bool act_grant(struct actor *a, const struct grant *list, size_t count)
{
    enum grant_progress progress;

    do {
        progress = act_grant_slice(a, list, count);
    } while (progress == GRANT_MORE);
    return progress == GRANT_LOST;
}

uint64_t act_take(struct actor *a)
{
    const struct job *job = NULL;
    enum status status = broker_take(a->session, &job);

    stage_step(a->stage);
    if (status == STATUS_EMPTY || status == STATUS_FORBIDDEN) {
        return 0;
    }
    assert_status(STATUS_OK, status);
    assert_true(job_held_by(a->stage->broker, job, a->session));
    return job_id(job);
}

enum status act_take_id(struct actor *a, uint64_t id)
{
    const struct job *job = NULL;
    enum status status = broker_take_id(a->session, id, &job);

    stage_step(a->stage);
    if (status == STATUS_OK) {
        assert_int_equal(job_id(job), id);
        assert_true(job_held_by(a->stage->broker, job, a->session));
    }
    return status;
}

void act_drain(struct actor *a, const char *order)
{
    struct stage_text *ids = calloc(1, sizeof *ids);
    uint64_t id;

    assert_non_null(ids);
    while ((id = act_take(a)) != 0) {
        assert_true(ids->len < STAGE_TEXT - 32);
        ids->len += (size_t)snprintf(ids->bytes + ids->len, 32, "%s%llu", ids->len ? " " : "",
                                     (unsigned long long)id);
        assert_status(STATUS_OK, act_complete(a, id, NULL));
    }
    assert_string_equal(ids->bytes, order);
    free(ids);
}

enum status act_wait_until(struct actor *a, nsec_t until, nsec_t margin_for)
{
    enum status status = broker_wait(a->session, until, margin_for);

    stage_step(a->stage);
    return status;
}

void act_wait(struct actor *a)
{
    assert_status(STATUS_OK, act_wait_until(a, NSEC_NEVER, -1));
}

void act_await_nudge(struct actor *a)
{
    broker_await_nudge(a->session);
    stage_step(a->stage);
}

bool act_unwait(struct actor *a)
{
    bool over = broker_unwait(a->session);

    stage_step(a->stage);
    return over;
}

static struct blob *blob_of(const char *text)
{
    struct blob *blob = text ? blob_copy(stage_slice(text)) : NULL;

    assert_true(!text || blob);
    return blob;
}

enum status act_complete(struct actor *a, uint64_t id, const char *result)
{
    struct blob *blob = blob_of(result);
    enum status status = broker_complete(a->session, id, blob);

    blob_unref(blob);
    stage_step(a->stage);
    return status;
}

enum status act_fail(struct actor *a, uint64_t id, const char *exception)
{
    struct blob *blob = blob_of(exception);
    enum status status = broker_fail(a->session, id, blob);

    blob_unref(blob);
    stage_step(a->stage);
    return status;
}

enum status act_release(struct actor *a, uint64_t id, uint32_t pri, nsec_t delay_for)
{
    enum status status = broker_release(a->session, id, pri, delay_for);

    stage_step(a->stage);
    return status;
}

enum status act_bury(struct actor *a, uint64_t id, uint32_t pri)
{
    enum status status = broker_bury(a->session, id, pri);

    stage_step(a->stage);
    return status;
}

enum status act_touch(struct actor *a, uint64_t id)
{
    enum status status = broker_touch(a->session, id);

    stage_step(a->stage);
    return status;
}

void act_end_limits(struct actor *a)
{
    while (broker_end_limits(a->session) == STATUS_MORE) {
    }
    stage_step(a->stage);
}

static enum status report(struct actor *a, uint64_t id, struct job_event event, const char *data)
{
    enum status status;

    event.data = blob_of(data);
    status = broker_report(a->session, id, &event);
    blob_unref(event.data);
    stage_step(a->stage);
    return status;
}

enum status act_progress(struct actor *a, uint64_t id, uint64_t numerator, uint64_t denominator)
{
    struct job_event event = {
        .kind = JOB_EVENT_PROGRESS, .numerator = numerator, .denominator = denominator};

    return report(a, id, event, NULL);
}

enum status act_data(struct actor *a, uint64_t id, const char *data)
{
    return report(a, id, (struct job_event){.kind = JOB_EVENT_DATA}, data);
}

enum status act_warning(struct actor *a, uint64_t id, const char *text)
{
    return report(a, id, (struct job_event){.kind = JOB_EVENT_WARNING}, text);
}

void stage_set_policy(struct stage *s, const char *glob, const struct policy_spec *spec)
{
    const struct policy_rule rule = {
        .glob = stage_slice(glob), .origin = stage_slice(glob), .spec = *spec};

    assert_status(STATUS_OK, set_policies(s->broker, &rule, 1));
    while (!check_policies_settled(s->broker)) {
        broker_tick(s->broker, s->now);
    }
    stage_step(s);
}
