/* SPDX-License-Identifier: MIT */

// The side door: jobs that have lived elsewhere come in as they are.

#include "core/import.h"

#include "core/match.h"
#include "core/session_private.h"
#include "core/job_private.h"
#include "core/key.h"
#include "core/observe.h"
#include "core/queue_private.h"
#include "core/record_private.h"
#include "core/door.h"
#include "core/image.h"

// What it holds: a buried job holds no key.
static struct key held_key(const struct job_image *image, struct key_room *room)
{
    enum key_kind kind = image->now.state == JOB_BURIED ? KEY_NONE : (enum key_kind)image->key_kind;

    return key_of(kind, image->key, image->body, image->blob, room);
}

// Whether the policy of the queue gives each job its body as a key.
static bool wants_content_key(const struct queue *queue)
{
    const struct policy_spec *policy = POLICY_OF(queue);

    return policy && policy->unique_body;
}

// Where jobs are looked for in the order of their places among equals, this one comes last.
static void begin(struct broker *broker, struct job *job, const struct job_image *image)
{
    struct job_place place = image_place(broker, &image->now);

    place.to_back = true;
    if (broker->next.id <= job->id) {
        broker->next.id = job->id + 1;
    }
    COUNT(broker, queue_at(broker, job), submitted);
    if (place.state == JOB_READY) {
        match_ready(broker, job, &place);
    } else {
        job_begin(broker, job, &place);
    }
}

static enum status accept(struct broker *broker, struct queue *queue, const struct job_image *image,
                          const struct key_hash *key, struct imported *imported)
{
    struct job *job = image_job_new(broker, queue, image);

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
    begin(broker, job, image);
    imported->id = job->id;
    record_append(broker, RECORD_SUBMIT, job, false);
    broker_await_position(broker, broker_job_position(broker, job));
    return STATUS_OK;
}

static enum status bring_in(struct broker *broker, struct queue *queue,
                            const struct job_image *image, struct session *by,
                            struct imported *imported)
{
    struct key_room room;
    struct key key = held_key(image, &room);
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
    status = by ? door_check_limits(queue, image->now.pri, image->body.len) : STATUS_OK;
    return status == STATUS_OK
               ? accept(broker, queue, image, key.bytes.len > 0 ? &hash : NULL, imported)
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
    status = door_check_sender(broker, queue, by);
    if (by && job.key_kind == KEY_NONE && wants_content_key(queue)) {
        job.key_kind = KEY_CONTENT;
    }
    if (status == STATUS_OK) {
        status = bring_in(broker, queue, &job, by, imported);
    }
    broker_queue_drop(broker, queue);
    return status;
}
