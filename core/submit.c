/* SPDX-License-Identifier: MIT */

// The door: where a job comes in, and where it can be turned away.

#include "core/match.h"
#include "core/outcome.h"
#include "core/unique.h"
#include "core/broker_private.h"
#include "core/job_state.h"
#include "core/session_private.h"
#include "core/job_private.h"
#include "core/key.h"
#include "core/observe.h"
#include "core/policy_private.h"
#include "core/queue_private.h"
#include "core/record_private.h"
#include "core/watch.h"
#include "core/door.h"

// Where the contract wants the job to begin.
static struct job_place first_place(const struct broker *broker, const struct job_spec *spec)
{
    struct job_place place = {.state = JOB_READY, .pri = spec->pri, .to_back = true};

    if (spec->start_kind == START_AFTER && spec->start > 0) {
        place.state = JOB_DELAYED;
        place.due_at = nsec_add(broker->now.mono, spec->start);
    } else if (spec->start_kind == START_AT && spec->start > broker->now.wall) {
        place.state = JOB_DELAYED;
        place.due_at = spec->start;
        place.on_wall = true;
    }
    return place;
}

static inline size_t body_len(const struct job_spec *spec)
{
    return spec->body_blob ? blob_slice(spec->body_blob).len : spec->body.len;
}

static void begin(struct broker *broker, struct queue *queue, struct job *job,
                  const struct job_place *place)
{
    job->id = broker->next.id++;
    COUNT(broker, queue, submitted);
    if (place->state == JOB_READY) {
        match_ready(broker, job, place);
    } else {
        job_begin(broker, job, place);
    }
}

// Of a job that was turned away.
static void discard(struct broker *broker, struct job *job)
{
    if (job_interest(job)) {
        interest_free(job_interest(job));
    }
    job_free(broker, job);
}

static enum status accept(struct broker *broker, const struct job_spec *spec,
                          struct session *watcher, const struct key_hash *key,
                          struct submission *submission)
{
    const struct job_place place = first_place(broker, spec);
    struct job *job = job_new(broker, spec);
    enum status status = STATUS_NO_MEMORY;

    if (!job || !id_map_make_room(&broker->index.jobs_by_id) || (key && !key_make_room(broker))) {
        goto out;
    }
    if (watcher) {
        submission->watch = watch_add(watcher, job);
        if (!submission->watch) {
            goto out;
        }
    }
    if (!record_has_space(broker, RECORD_SUBMIT, job)) {
        status = STATUS_NO_SPACE;
        goto out;
    }
    if (key) {
        key_take(broker, job, key);
    }
    begin(broker, spec->queue, job, &place);
    submission->id = job->id;
    record_append(broker, RECORD_SUBMIT, job, false);
    broker_await_position(broker, broker_job_position(broker, job));
    return STATUS_OK;
out:
    if (job) {
        if (submission->watch) {
            watch_remove(submission->watch);
            submission->watch = NULL;
        }
        discard(broker, job);
    }
    return status;
}

// Whether the duplicate wants the delayed job to begin earlier than it would, and may have it so: a
// wait that a failed attempt, a worker or an operator imposed is not the submitters' to end. A
// calendar moment stays where the duplicate names no start, as gearmand has it.
static bool starts_earlier(const struct broker *broker, const struct job *job,
                           const struct job_spec *spec, const struct job_place *place)
{
    bool on_wall = job_due_on_wall(job);
    nsec_t left, wanted;

    if (job->state != JOB_DELAYED || job_wait_imposed(job) ||
        (on_wall && spec->start_kind == START_NOW)) {
        return false;
    }
    if (place->state == JOB_READY) {
        return true;
    }
    left = job->due_at - (on_wall ? broker->now.wall : broker->now.mono);
    wanted = place->due_at - (place->on_wall ? broker->now.wall : broker->now.mono);
    return wanted < left;
}

static void start_earlier(struct broker *broker, struct job *job, const struct job_spec *spec,
                          const struct job_place *wanted)
{
    struct job_place place = *wanted;

    if (place.state == JOB_DELAYED && !place.on_wall) {
        // A restart goes by the length of the delay that holds.
        job_set_delay(broker, job, spec->start);
    }
    place.pri = job->pri;
    place.to_back = false;
    if (place.state == JOB_READY) {
        match_ready(broker, job, &place);
    } else {
        job_move(broker, job, &place);
    }
}

static enum status join(struct broker *broker, struct job *job, const struct job_spec *spec,
                        struct session *watcher, struct submission *submission)
{
    const struct job_place place = first_place(broker, spec);
    bool earlier = starts_earlier(broker, job, spec, &place);
    bool made_durable = spec->durable && !job->durable;
    enum record_kind kind = made_durable ? RECORD_SUBMIT : RECORD_START;

    if (watcher) {
        submission->watch = watch_add(watcher, job);
        if (!submission->watch) {
            return STATUS_NO_MEMORY;
        }
    }
    job->durable = job->durable || made_durable;
    if ((made_durable || earlier) && !record_has_space(broker, kind, job)) {
        job->durable = job->durable && !made_durable;
        if (submission->watch) {
            watch_remove(submission->watch);
            submission->watch = NULL;
        }
        return STATUS_NO_SPACE;
    }
    if (watcher || made_durable) {
        job->abandoned = false;
    }
    submission->id = job->id;
    submission->joined = true;
    if (earlier) {
        start_earlier(broker, job, spec, &place);
    }
    if (made_durable || earlier) {
        record_append(broker, kind, job, false);
    }
    broker_await_position(broker, broker_job_position(broker, job));
    return STATUS_OK;
}

// A job of that key that is done stands for the new one. Whoever is to be told of the end waits for
// a job of its own.
static bool is_done(struct broker *broker, const struct job_spec *spec, struct key key,
                    struct submission *submission)
{
    const struct policy_spec *policy = POLICY_OF(spec->queue);

    if (!policy || policy->unique_for_for == 0 || spec->watched) {
        return false;
    }
    submission->id = unique_find(broker, spec->queue, key);
    submission->joined = submission->id != 0;
    if (submission->joined) {
        broker_await_position(broker, broker->memos.position);
    }
    return submission->joined;
}

// Whether the policy of the queue gives the job its body as a key.
static bool wants_key(const struct job_spec *spec)
{
    const struct policy_spec *policy = POLICY_OF(spec->queue);

    return policy && policy->unique_body && spec->key_kind == KEY_NONE;
}

bool broker_keys_bodies(struct broker *broker, struct slice name)
{
    const struct queue *queue = broker_queue_find(broker, name);
    const struct policy *policy = queue ? queue->policy : policy_for(broker, name);

    return policy && policy->rule.spec.unique_body;
}

enum status broker_submit(struct broker *broker, const struct job_spec *spec, struct session *by,
                          struct submission *submission)
{
    struct session *watcher = spec->watched ? by : NULL;
    struct job_spec with_key;
    struct key_room room;
    struct key key;
    struct key_hash hash;
    enum status status;
    struct job *job;

    ENSURE(!broker->settling);
    if (wants_key(spec)) {
        with_key = *spec;
        with_key.key_kind = KEY_CONTENT;
        spec = &with_key;
    }
    *submission = (struct submission){0};
    broker->store.position = 0;
    status = door_check_sender(broker, spec->queue, by);
    if (status != STATUS_OK) {
        return status;
    }
    if (spec->reducer.len > JOB_KEY_MAX ||
        (spec->key_kind == KEY_NAME && spec->key.len > JOB_KEY_MAX)) {
        return STATUS_TOO_LARGE;
    }
    key = key_of(spec->key_kind, spec->key, spec->body, spec->body_blob, &room);
    if (key.bytes.len > 0) {
        job = key_find(broker, spec->queue, key, &hash);
        if (job) {
            return join(broker, job, spec, watcher, submission);
        }
        if (is_done(broker, spec, key, submission)) {
            return STATUS_OK;
        }
    }
    status = door_check_limits(spec->queue, spec->pri, body_len(spec));
    if (status != STATUS_OK) {
        return status;
    }
    return accept(broker, spec, watcher, key.bytes.len > 0 ? &hash : NULL, submission);
}

enum status broker_submit_to(struct broker *broker, struct slice name, struct job_spec *spec,
                             struct session *by, struct submission *submission)
{
    enum status status = session_may_by_name(by, MAY_SUBMIT, name)
                             ? broker_queue_hold(broker, name, &spec->queue)
                             : STATUS_FORBIDDEN;

    broker->store.position = 0;
    if (status != STATUS_OK) {
        return status;
    }
    status = broker_submit(broker, spec, by, submission);
    broker_queue_drop(broker, spec->queue);
    return status;
}

void broker_unwatch(struct watch *watch)
{
    ENSURE(!watch->interest->broker->settling);
    outcome_unwatched(watch);
}
