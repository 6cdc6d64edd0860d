/* SPDX-License-Identifier: MIT */
#include "core/restore.h"

#include "core/base/list_sort.h"
#include "core/matching/cleanup.h"
#include "core/model/calendar.h"
#include "core/model/job.h"
#include "core/model/key.h"
#include "core/model/lookup.h"
#include "core/model/open_queues.h"
#include "core/model/pause.h"
#include "core/model/queue.h"
#include "core/model/states.h"

// The highest id and burial are left out: something comes after each.
static bool possible_change(const struct job_change *change)
{
    return change->id > 0 && change->id < UINT64_MAX && change->burial < UINT64_MAX &&
           change->attempts <= JOB_ATTEMPTS_MAX &&
           (change->state == JOB_READY || change->state == JOB_DELAYED ||
            change->state == JOB_BURIED);
}

static enum status check_image(const struct job_image *image)
{
    if (!possible_change(&image->now) || image->key_kind > KEY_CONTENT ||
        image->on_fail > ON_FAIL_DROP || image->on_loss > ON_LOSS_BACK) {
        return STATUS_BAD_NAME;
    }
    if (image->key.len > JOB_KEY_MAX || image->reducer.len > JOB_KEY_MAX) {
        return STATUS_TOO_LARGE;
    }
    return STATUS_OK;
}

// From here on until broker_restore_finish(), no queue vanishes: what is in it may still come.
static void begin_restoring(struct broker *broker)
{
    ENSURE(broker->count.sessions == 0 && !broker->settling);
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
    status = broker_queue_hold(broker, name, queue);
    if (status == STATUS_OK) {
        broker_queue_drop(broker, *queue);
        broker->restoring.queue = *queue;
    }
    return status;
}

// When a delay or a pause that is to last until `at` by the wall clock ends, by the monotonic one.
// The wall clock may have been ahead when that was written, or be behind now: it never lasts longer
// from here on than it was to last in all.
static nsec_t on_mono_clock(const struct broker *broker, nsec_t at, nsec_t most_for)
{
    nsec_t left_for = at - broker->now.wall;

    return nsec_add(broker->now.mono, left_for < most_for ? left_for : most_for);
}

// A delay of no length is one that nobody knows.
static nsec_t delay_of(const struct job_change *change)
{
    return change->delay ? nsec_from_seconds(change->delay) : NSEC_NEVER;
}

static struct job_place place_of(struct broker *broker, const struct job_change *change)
{
    struct job_place place = {.state = (enum job_state)change->state, .pri = change->pri};

    if (change->state == JOB_BURIED) {
        place.burial = change->burial;
        if (broker->next.burial <= change->burial) {
            broker->next.burial = change->burial + 1;
        }
    } else if (change->state == JOB_DELAYED && change->due_at > broker->now.wall) {
        place.on_wall = change->on_wall;
        place.due_at = change->on_wall ? change->due_at
                                       : on_mono_clock(broker, change->due_at, delay_of(change));
    } else {
        place.state = JOB_READY;
    }
    return place;
}

static bool set_counters(struct broker *broker, struct job *job, const struct job_image *image)
{
    uint32_t beyond = image->reserves > 15 ? image->reserves & ~15u : 0;

    job->reserves = image->reserves & 15u;
    if (beyond || image->timeouts || image->releases || image->buries || image->kicks ||
        image->now.delay) {
        struct job_extra *extra = job_extra(broker, job);

        if (!extra) {
            return false;
        }
        extra->reserves = beyond;
        extra->timeouts = image->timeouts;
        extra->releases = image->releases;
        extra->buries = image->buries;
        extra->kicks = image->kicks;
        extra->delay = image->now.delay;
    }
    return true;
}

// In no container and no index yet; NULL without memory.
static struct job *restored_new(struct broker *broker, struct queue *queue,
                                const struct job_image *image)
{
    const struct job_spec spec = {
        .queue = queue,
        .pri = image->now.pri,
        .ttr_for = nsec_from_seconds(image->ttr),
        .key_kind = (enum key_kind)image->key_kind,
        .key = image->key,
        .reducer = image->reducer,
        .max_attempts = image->max_attempts,
        .on_fail = (enum on_fail)image->on_fail,
        .on_loss = (enum on_loss)image->on_loss,
        .durable = true,
        .body = image->body,
        .body_blob = image->blob,
    };
    struct job *job = job_new(broker, &spec);

    if (!job) {
        return NULL;
    }
    job->id = image->now.id;
    job->seq = job->id & JOB_SEQ_MAX;
    job->created_ms = calendar_from_wall_ms(broker, image->created_ms) & ((UINT64_C(1) << 42) - 1);
    job->attempts = image->now.attempts & 0x3ffu;
    if (!set_counters(broker, job, image)) {
        job_free(broker, job);
        return NULL;
    }
    return job;
}

// Whether the job is to have its key when all are back.
static void set_claim(struct broker *broker, struct job *job, bool claims)
{
    struct job_extra *extra = job->extra;

    if (!extra || extra->claims == claims || job_key(job).len == 0) {
        return;
    }
    extra->claims = claims;
    if (extra->key_kind == KEY_CONTENT) {
        broker->restoring.contents = true;
    } else if (claims) {
        list_append(&broker->restoring.names, &job_namesake(extra)->ring);
    } else {
        list_remove(&job_namesake(extra)->ring);
    }
}

static void forget(struct broker *broker, struct job *job)
{
    set_claim(broker, job, false);
    job_end(broker, job);
}

static void begin(struct broker *broker, struct job *job, const struct job_change *change)
{
    const struct job_place place = place_of(broker, change);
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
    set_claim(broker, job, change->keyed && change->state != JOB_BURIED);
}

enum status broker_restore_job(struct broker *broker, const struct job_image *image,
                               const struct job **job)
{
    enum status status = check_image(image);
    struct job *restored;
    struct queue *queue;

    begin_restoring(broker);
    if (status == STATUS_OK) {
        status = find_queue(broker, image->queue, &queue);
    }
    if (status != STATUS_OK) {
        return status;
    }
    restored = restored_new(broker, queue, image);
    if (!restored) {
        return STATUS_NO_MEMORY;
    }
    if (!id_map_make_room(&broker->index.jobs_by_id) ||
        (job_key(restored).len > 0 && !key_make_room(broker))) {
        job_free(broker, restored);
        return STATUS_NO_MEMORY;
    }
    queue->kept = queue->kept || image->queue_kept;
    key_know_content(broker, restored);
    begin(broker, restored, &image->now);
    *job = restored;
    return STATUS_OK;
}

static void count_change(struct broker *broker, struct job *job, enum record_kind kind)
{
    switch (kind) {
    case RECORD_RELEASE:
        JOB_COUNT(broker, job, releases);
        break;
    case RECORD_BURY:
        JOB_COUNT(broker, job, buries);
        break;
    case RECORD_KICK:
        JOB_COUNT(broker, job, kicks);
        break;
    case RECORD_TAKE:
    case RECORD_START:
        break;
    case RECORD_SUBMIT:
    case RECORD_END:
    case RECORD_PAUSE:
        UNREACHABLE();
    }
}

enum status broker_restore_change(struct broker *broker, enum record_kind kind,
                                  const struct job_change *change)
{
    struct job *job = broker_job(broker, change->id);
    struct job_place place;

    begin_restoring(broker);
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    if (!possible_change(change)) {
        return STATUS_BAD_NAME;
    }
    count_change(broker, job, kind);
    job->attempts = change->attempts & 0x3ffu;
    job_set_delay(broker, job, nsec_from_seconds(change->delay));
    set_claim(broker, job, change->keyed && change->state != JOB_BURIED);
    place = place_of(broker, change);
    job_move(broker, job, &place);
    return STATUS_OK;
}

enum status broker_restore_end(struct broker *broker, uint64_t id)
{
    struct job *job = broker_job(broker, id);

    begin_restoring(broker);
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
        queue_pause(broker, paused, pause_for, on_mono_clock(broker, until_at, pause_for));
    } else if (paused->paused) {
        queue_resume(broker, paused);
    }
    *queue = paused;
    return STATUS_OK;
}

static enum status claim(struct broker *broker, struct job *job)
{
    if (!key_make_room(broker)) {
        return STATUS_NO_MEMORY;
    }
    set_claim(broker, job, false);
    key_claim(broker, job);
    return STATUS_OK;
}

static bool submitted_before(const struct list_node *a, const struct list_node *b)
{
    struct namesake *x = list_item((struct list_node *)(uintptr_t)a, struct namesake, ring);
    struct namesake *y = list_item((struct list_node *)(uintptr_t)b, struct namesake, ring);

    return job_of_namesake(x)->job->id < job_of_namesake(y)->job->id;
}

// Of those who hold the same name in different queues, the one submitted first comes first.
static enum status claim_names(struct broker *broker)
{
    enum status status = STATUS_OK;

    list_sort(&broker->restoring.names, submitted_before);
    while (status == STATUS_OK && !list_empty(&broker->restoring.names)) {
        struct namesake *first =
            list_item(list_first(&broker->restoring.names), struct namesake, ring);

        status = claim(broker, job_of_namesake(first)->job);
    }
    return status;
}

static enum status claim_contents(struct broker *broker)
{
    struct job_walk walk = {.over = !broker->restoring.contents};
    enum status status;

    do {
        const struct job *job;

        status = broker_job_next(broker, &walk, &job);
        if (status == STATUS_OK && job->extra && job->extra->claims &&
            claim(broker, broker_job(broker, job->id)) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
    } while (status != STATUS_EMPTY);
    broker->restoring.contents = false;
    return STATUS_OK;
}

static bool buried_before(const struct list_node *a, const struct list_node *b)
{
    return job_in_list(a)->burial < job_in_list(b)->burial;
}

enum status broker_restore_finish(struct broker *broker, uint64_t first_id)
{
    uint32_t cursor = 0;
    struct queue *queue;

    begin_restoring(broker);
    ENSURE(first_id >= broker->next.seq);
    if (claim_names(broker) != STATUS_OK || claim_contents(broker) != STATUS_OK) {
        return STATUS_NO_MEMORY;
    }
    broker->next.id = first_id;
    broker->restoring.active = false;
    broker->restoring.queue = NULL;
    while ((queue = table_next(&broker->index.queues, &cursor))) {
        open_queue_review(broker, queue);
        list_sort(&queue->buried, buried_before);
        queue->stays_for_pause = queue->paused;
        queue_vanish_if_idle(broker, queue);
    }
    return STATUS_OK;
}
