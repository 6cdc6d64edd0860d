/* SPDX-License-Identifier: MIT */

// How a job comes in: submitted, or imported with the state that it had in another broker; and for
// which reasons it is refused.

#include "core/submit.h"

#include "core/base/memory.h"
#include "core/image.h"
#include "core/key.h"
#include "core/match.h"
#include "core/observe.h"
#include "core/record_private.h"
#include "core/result_private.h"
#include "core/watch.h"

//
// Admission
//

// Whether the queue takes any job from `by` now; NULL is the host itself. STATUS_FORBIDDEN,
// STATUS_DRAINING, STATUS_NO_MEMORY.
static enum status submit_check_sender(const struct broker *broker, const struct queue *queue,
                                       struct session *by)
{
    if (!caller_may(by, MAY_SUBMIT, queue)) {
        return STATUS_FORBIDDEN;
    }
    if (broker->draining) {
        return STATUS_DRAINING;
    }
    if (by) {
        session_submits(by);
    }
    return memory_is_short() ? STATUS_NO_MEMORY : STATUS_OK;
}

// Limits do not count buried jobs: these wait for an operator, and submitters can do nothing about
// them.
static uint64_t submit_counted_jobs(const struct queue *queue)
{
    return queue_jobs(queue) - queue->jobs[JOB_BURIED];
}

// Whether the queue's limits let in a job of that priority, with a body of that length.
// STATUS_QUEUE_FULL, STATUS_JOB_TOO_LARGE.
static enum status submit_check_limits(const struct queue *queue, uint32_t pri, size_t len)
{
    const struct policy_spec *policy = POLICY_OF(queue);
    uint32_t limit = queue->limits[band_of(pri)];

    if (limit > 0 && submit_counted_jobs(queue) >= limit) {
        return STATUS_QUEUE_FULL;
    }
    if (!policy) {
        return STATUS_OK;
    }
    if ((policy->max_job_size > 0 && len > policy->max_job_size) ||
        (policy->max_bytes > 0 && len > policy->max_bytes)) {
        return STATUS_JOB_TOO_LARGE;
    }
    if ((policy->max_jobs > 0 && submit_counted_jobs(queue) >= policy->max_jobs) ||
        (policy->max_bytes > 0 && queue->bytes > policy->max_bytes - len)) {
        return STATUS_QUEUE_FULL;
    }
    return STATUS_OK;
}

// Whether the policy of the queue gives jobs without a key their bodies as keys.
static bool submit_keys_bodies(const struct queue *queue)
{
    const struct policy_spec *policy = POLICY_OF(queue);

    return policy && policy->unique_body;
}

// Puts the job, which has an id, into its first state.
static void submit_start(struct broker *broker, struct queue *queue, struct job *job,
                         const struct job_place *place)
{
    COUNT(broker, queue, submitted);
    if (place->state == JOB_READY) {
        match_ready(broker, job, place);
    } else {
        job_begin(broker, job, place);
    }
}

//
// Submitting
//

// The first state of the job, as its contract asks.
static struct job_place submit_first_place(const struct broker *broker, const struct job_spec *spec)
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

static enum status submit_accept(struct broker *broker, const struct job_spec *spec,
                                 struct session *watcher, const struct key_hash *key,
                                 struct submission *submission)
{
    const struct job_place place = submit_first_place(broker, spec);
    struct job *job = job_new(broker, spec);
    enum status status = STATUS_NO_MEMORY;

    if (!job || !id_map_make_room(&broker->index.jobs_by_id) || (key && !key_make_room(broker))) {
        goto out;
    }
    if (watcher) {
        submission->watch = watch_add(watcher, job, false);
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
    job->id = broker->next.id++;
    submit_start(broker, spec->queue, job, &place);
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
        if (job_interest(job)) {
            interest_free(job_interest(job));
        }
        job_free(broker, job);
    }
    return status;
}

// Whether the duplicate asks that the delayed job begin earlier, and may have that: submitters
// cannot end a wait that a failed attempt, a worker or an operator imposed. A duplicate that names
// no start does not end the wait for a calendar moment, as in gearmand.
static bool submit_starts_earlier(const struct broker *broker, const struct job *job,
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

static void submit_start_earlier(struct broker *broker, struct job *job,
                                 const struct job_spec *spec, const struct job_place *wanted)
{
    struct job_place place = *wanted;

    if (place.state == JOB_DELAYED && !place.on_wall) {
        // A restart needs the length of the delay that counts.
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

static enum status submit_join(struct broker *broker, struct job *job, const struct job_spec *spec,
                               struct session *watcher, struct submission *submission)
{
    const struct job_place place = submit_first_place(broker, spec);
    bool earlier = submit_starts_earlier(broker, job, spec, &place);
    bool made_durable = spec->durable && !job->durable;
    enum record_kind kind = made_durable ? RECORD_SUBMIT : RECORD_START;

    if (watcher) {
        submission->watch = watch_add(watcher, job, false);
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
        submit_start_earlier(broker, job, spec, &place);
    }
    if (made_durable || earlier) {
        record_append(broker, kind, job, false);
    }
    broker_await_position(broker, broker_job_position(broker, job));
    return STATUS_OK;
}

// Whether a job of that key that is done stands for the new one; not if the submitter watches the
// job, for it would never be told of an end.
static bool submit_is_done(struct broker *broker, const struct job_spec *spec, struct job_key key,
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
    struct job_key key;
    struct key_hash hash;
    enum status status;
    struct job *job;

    ENSURE(!broker->settling);
    if (spec->key_kind == KEY_NONE && submit_keys_bodies(spec->queue)) {
        with_key = *spec;
        with_key.key_kind = KEY_CONTENT;
        spec = &with_key;
    }
    *submission = (struct submission){0};
    broker->store.position = 0;
    status = submit_check_sender(broker, spec->queue, by);
    if (status != STATUS_OK) {
        return status;
    }
    if (spec->reducer.len > JOB_KEY_MAX ||
        (spec->key_kind == KEY_NAME && spec->key.len > JOB_KEY_MAX)) {
        return STATUS_TOO_LARGE;
    }
    key = job_key_from(spec->key_kind, spec->key, spec->body, spec->body_blob, &room);
    if (key.bytes.len > 0) {
        job = key_find(broker, spec->queue, key, &hash);
        if (job) {
            return submit_join(broker, job, spec, watcher, submission);
        }
        if (submit_is_done(broker, spec, key, submission)) {
            return STATUS_OK;
        }
    }
    status = submit_check_limits(spec->queue, spec->pri,
                                 spec->body_blob ? spec->body_blob->len : spec->body.len);
    if (status != STATUS_OK) {
        return status;
    }
    return submit_accept(broker, spec, watcher, key.bytes.len > 0 ? &hash : NULL, submission);
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

//
// Importing
//

static enum status import_accept(struct broker *broker, struct queue *queue,
                                 const struct job_image *image, const struct key_hash *key,
                                 struct imported *imported)
{
    struct job *job = image_job_new(broker, queue, image);
    struct job_place place;

    if (!job) {
        return STATUS_NO_MEMORY;
    }
    if (!id_map_make_room(&broker->index.jobs_by_id) ||
        (job_has_key(job) && !key_make_room(broker))) {
        job_free(broker, job);
        return STATUS_NO_MEMORY;
    }
    if (!record_has_space(broker, RECORD_SUBMIT, job)) {
        job_free(broker, job);
        return STATUS_NO_SPACE;
    }
    if (key) {
        key_take(broker, job, key);
    } else {
        key_know_content(broker, job);
    }
    queue->kept = queue->kept || image->queue_kept;
    place = image_place(broker, &image->now);
    // It is the last among its equals.
    place.to_back = true;
    if (broker->next.id <= job->id) {
        broker->next.id = job->id + 1;
    }
    submit_start(broker, queue, job, &place);
    imported->id = job->id;
    record_append(broker, RECORD_SUBMIT, job, false);
    broker_await_position(broker, broker_job_position(broker, job));
    return STATUS_OK;
}

static enum status import_or_join(struct broker *broker, struct queue *queue,
                                  const struct job_image *image, struct session *by,
                                  struct imported *imported)
{
    // A buried job holds no key.
    enum key_kind kind = image->now.state == JOB_BURIED ? KEY_NONE : (enum key_kind)image->key_kind;
    struct key_room room;
    struct job_key key = job_key_from(kind, image->key, image->body, image->blob, &room);
    struct key_hash hash;
    enum status status;
    struct job *job;

    if (key.bytes.len > 0) {
        job = key_find(broker, queue, key, &hash);
        if (job) {
            *imported = (struct imported){.id = job->id, .joined = true};
            broker_await_position(broker, broker_job_position(broker, job));
            return STATUS_OK;
        }
    }
    status = by ? submit_check_limits(queue, image->now.pri, image->body.len) : STATUS_OK;
    return status == STATUS_OK
               ? import_accept(broker, queue, image, key.bytes.len > 0 ? &hash : NULL, imported)
               : status;
}

enum status broker_import(struct broker *broker, const struct job_image *image, struct session *by,
                          struct imported *imported)
{
    struct job_image job = *image;
    struct queue *queue;
    enum status status;

    ENSURE(!broker->settling && !broker->restoring.active);
    *imported = (struct imported){0};
    broker->store.position = 0;
    if (job.now.id == 0) {
        job.now.id = broker->next.id;
    } else if (job.now.id > IMPORT_ID_MAX) {
        return STATUS_BAD_NAME;
    } else if (broker_job(broker, job.now.id)) {
        return STATUS_IN_USE;
    }
    job.now.burial = 0;
    status = image_check(&job);
    if (status != STATUS_OK) {
        return status;
    }
    if (!session_may_by_name(by, MAY_SUBMIT, job.queue)) {
        return STATUS_FORBIDDEN;
    }
    status = broker_queue_hold(broker, job.queue, &queue);
    if (status != STATUS_OK) {
        return status;
    }
    status = submit_check_sender(broker, queue, by);
    if (by && job.key_kind == KEY_NONE && submit_keys_bodies(queue)) {
        job.key_kind = KEY_CONTENT;
    }
    if (status == STATUS_OK) {
        status = import_or_join(broker, queue, &job, by, imported);
    }
    broker_queue_drop(broker, queue);
    return status;
}
