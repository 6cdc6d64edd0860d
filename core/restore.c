/* SPDX-License-Identifier: MIT */
#include "core/restore.h"

#include "core/cleanup.h"
#include "core/kept_lease.h"
#include "core/expiry.h"
#include "core/gate.h"
#include "core/job_state.h"
#include "core/job_private.h"
#include "core/key.h"
#include "core/observe.h"
#include "core/dead_letter_private.h"
#include "core/queue_private.h"
#include "core/policy_private.h"
#include "core/image.h"
#include "core/restore_claims.h"
#include "core/restore_tidy.h"

// From here on until broker_restore_finish(), no queue vanishes: what is in it may still come.
static void begin_restoring(struct broker *broker)
{
    ENSURE(broker->count.sessions == 0 && !broker->settling);
    // Its buried jobs stand elsewhere than those that come back.
    ENSURE(broker->restoring.active || broker->count.queues == 0);
    broker->restoring.active = true;
}

// Neighbours in a store are mostly of one queue.
static enum status find_queue(struct broker *broker, struct slice name, struct queue **queue)
{
    enum status status;

    *queue = broker->restoring.queue;
    if (*queue && slice_equal(queue_name(*queue), name)) {
        return STATUS_OK;
    }
    status = broker_queue_hold_uncapped(broker, name, queue);
    if (status == STATUS_OK) {
        broker_queue_drop(broker, *queue);
        broker->restoring.queue = *queue;
        restore_note_idle(broker, *queue);
    }
    return status;
}

static void forget(struct broker *broker, struct job *job)
{
    struct queue *queue = queue_at(broker, job);
    uint64_t seq = job->seq;

    restore_set_claim(broker, job, false);
    job_end(broker, job);
    job_give_up_bound(broker, queue, seq);
    restore_note_idle(broker, queue);
}

// A job that is ready, and perhaps has been for a while: it goes on waiting since the moment that
// the record says, or since its delay ended, whether or not its queue lets jobs expire: policies
// of the run time come when all jobs are back. Where neither is known, its wait begins now: a job
// must not be over for a time that the broker had forgiven it.
static void go_on_waiting(struct broker *broker, struct job *job, const struct job_change *change)
{
    struct queue *queue = queue_at(broker, job);
    nsec_t since_at = change->state == JOB_DELAYED ? change->due_at : change->ready_at;
    nsec_t waited_for = since_at > 0 ? broker->now.wall - since_at : 0;
    nsec_t most_for =
        queue_expires(queue) ? queue->policy->rule.spec.expire_after_for : POLICY_EXPIRE_MAX;

    if (job->state == JOB_READY) {
        waited_for = waited_for < most_for ? waited_for : most_for;
        waited_for = waited_for > 0 ? waited_for : 0;
        expiry_set_since(broker, queue, job, job->ready_at_step - wait_step(waited_for));
    }
}

static void begin(struct broker *broker, struct job *job, const struct job_change *change)
{
    const struct job_place place = image_place(broker, change);
    struct job *old = broker_job(broker, job->id);

    if (old) {
        forget(broker, old);
    }
    if (broker->next.id <= job->id) {
        broker->next.id = job->id + 1;
    }
    if (broker->next.seq <= job->id) {
        broker->next.seq = job->id + 1;
    }
    job_begin(broker, job, &place);
    go_on_waiting(broker, job, change);
    restore_set_claim(broker, job, change->keyed && change->state != JOB_BURIED);
}

enum status broker_restore_job(struct broker *broker, const struct job_image *image,
                               const struct job **job)
{
    enum status status = image_check(image);
    struct job *restored;
    struct queue *queue;

    begin_restoring(broker);
    if (status == STATUS_OK) {
        status = find_queue(broker, image->queue, &queue);
    }
    if (status != STATUS_OK) {
        return status;
    }
    restored = image_job_new(broker, queue, image);
    if (!restored) {
        return STATUS_NO_MEMORY;
    }
    if (!id_map_make_room(&broker->index.jobs_by_id) ||
        (job_has_key(restored) && !key_make_room(broker))) {
        job_free(broker, restored);
        return STATUS_NO_MEMORY;
    }
    queue->kept = queue->kept || image->queue_kept;
    key_know_content(broker, restored);
    begin(broker, restored, &image->now);
    *job = restored;
    return STATUS_OK;
}

// A record of an older format says only by its kind what it adds. How often the job was reserved is
// not known then, but no less than what ended leases.
static void count_change(const struct job *job, enum record_kind kind,
                         struct job_counters *counters)
{
    uint32_t least;

    counters->releases += kind == RECORD_RELEASE;
    counters->buries += kind == RECORD_BURY;
    counters->kicks += kind == RECORD_KICK;
    least = job->attempts + counters->releases;
    counters->reserves = counters->reserves < least ? least : counters->reserves;
}

// Where there is no memory for the counters, they stay as they are.
static void set_counters(struct broker *broker, struct job *job, enum record_kind kind,
                         const struct job_change *change)
{
    struct job_change now;

    if (change->counted) {
        (void)image_set_counters(broker, job, &change->counters);
        return;
    }
    job_describe_change(broker, job, &now);
    count_change(job, kind, &now.counters);
    (void)image_set_counters(broker, job, &now.counters);
}

static void apply_change(struct broker *broker, struct job *job, enum record_kind kind,
                         const struct job_change *change)
{
    struct job_place place = image_place(broker, change);

    // A record of an older format does not say that the wait of a release was imposed.
    place.imposed = place.imposed || (kind == RECORD_RELEASE && !change->counted);
    job->attempts = change->attempts & 0x3ffu;
    set_counters(broker, job, kind, change);
    job_set_delay(broker, job, nsec_from_seconds(change->delay));
    restore_set_claim(broker, job, change->keyed && change->state != JOB_BURIED);
    job_move(broker, job, &place);
    go_on_waiting(broker, job, change);
}

enum status broker_restore_change(struct broker *broker, enum record_kind kind,
                                  const struct job_change *change)
{
    struct job *job = broker_job(broker, change->id);

    begin_restoring(broker);
    if (kind != RECORD_SET) {
        kept_lease_restored_over(broker, change->id);
    }
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    if (!image_possible_change(change)) {
        return STATUS_BAD_NAME;
    }
    apply_change(broker, job, kind, change);
    return STATUS_OK;
}

enum status broker_restore_move(struct broker *broker, const struct job_change *change,
                                struct slice name, bool kept, const struct dead_letter *past)
{
    struct job *job = broker_job(broker, change->id);
    struct queue *queue;
    enum status status;

    begin_restoring(broker);
    kept_lease_restored_over(broker, change->id);
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    status = image_possible_change(change) && image_possible_past(past)
                 ? find_queue(broker, name, &queue)
                 : STATUS_BAD_NAME;
    if (status == STATUS_OK && !image_set_past(broker, job, past)) {
        status = STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK) {
        struct queue *from = queue_at(broker, job);

        queue->kept = queue->kept || kept;
        restore_set_claim(broker, job, false);
        job_transfer(broker, job, queue);
        restore_note_idle(broker, from);
        key_know_content(broker, job);
        apply_change(broker, job, RECORD_MOVE, change);
    }
    return status;
}

enum status broker_restore_end(struct broker *broker, uint64_t id)
{
    struct job *job = broker_job(broker, id);

    begin_restoring(broker);
    kept_lease_restored_over(broker, id);
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    forget(broker, job);
    return STATUS_OK;
}

enum status broker_restore_pause(struct broker *broker, struct slice name, nsec_t pause_for,
                                 nsec_t until_at, const struct queue **queue)
{
    struct queue *paused;
    enum status status;

    begin_restoring(broker);
    status = find_queue(broker, name, &paused);
    if (status != STATUS_OK) {
        return status;
    }
    if (pause_for > 0 && until_at > broker->now.wall) {
        queue_pause(broker, paused, pause_for, image_on_mono_clock(broker, until_at, pause_for));
    } else if (queue_paused(paused)) {
        queue_resume(broker, paused);
        restore_note_idle(broker, paused);
    }
    *queue = paused;
    return STATUS_OK;
}

enum status broker_restore_finish(struct broker *broker, uint64_t first_id)
{
    uint32_t cursor = 0;
    struct queue *queue;

    begin_restoring(broker);
    ENSURE(first_id >= broker->next.seq);
    restore_settle_claims(broker);
    broker->next.id = first_id;
    broker->restoring.active = false;
    broker->restoring.ended_at = broker->now.mono;
    broker->restoring.queue = NULL;
    while ((queue = table_next(&broker->index.queues, &cursor))) {
        queue_end_return(queue);
        if (queue->gate) {
            gate_restore_rate(broker, queue);
        }
        if (queue_expires(queue)) {
            expiry_review(broker, queue);
        }
    }
    restore_end_idle(broker);
    return STATUS_OK;
}
