/* SPDX-License-Identifier: MIT */
#include "core/queue.h"

#include "core/broker_private.h"

#include <stdlib.h>

uint64_t queue_hash_of(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct queue, by_name)->name_hash;
}

uint64_t queue_jobs(const struct queue *queue)
{
    uint64_t jobs = 0;

    for (unsigned state = 0; state < JOB_STATES; state++) {
        jobs += queue->jobs[state];
    }
    return jobs;
}

void queue_rearm(struct broker *broker, struct queue *queue, enum clock clock)
{
    struct job *first = job_in_tree(tree_first(&queue->delayed[clock]));

    moment_set(&broker->due_queues[clock], &queue->due[clock], first ? first->due_at : NSEC_NEVER,
               first ? first->order : 0);
}

static struct queue *find_by_hash(const struct broker *broker, struct slice name, uint64_t hash)
{
    struct hash_node *node = hash_first(&broker->queues_by_name, hash);

    for (; node; node = node->next) {
        struct queue *queue = container_of(node, struct queue, by_name);

        if (queue->name_hash == hash && slice_equal(queue_name(queue), name)) {
            return queue;
        }
    }
    return NULL;
}

static struct queue *queue_new(struct broker *broker, struct slice name, uint64_t hash)
{
    struct queue *queue;

    if (!hash_make_room(&broker->queues_by_name) || !table_make_room(&broker->queues)) {
        return NULL;
    }
    queue = calloc(1, sizeof *queue + name.len);
    if (!queue) {
        return NULL;
    }
    queue->name_hash = hash;
    queue->name_len = (uint16_t)name.len;
    memcpy(queue->name, name.ptr, name.len);
    list_init(&queue->buried);
    list_init(&queue->waits);
    list_init(&queue->naps);
    list_init(&queue->opening);
    list_init(&queue->matching);
    list_init(&queue->nudging);
    list_init(&queue->recorded);
    for (unsigned clock = 0; clock < CLOCKS; clock++) {
        queue->due[clock].at = NSEC_NEVER;
    }
    queue->resumes.at = NSEC_NEVER;
    hash_insert(&broker->queues_by_name, &queue->by_name);
    queue->place = table_put(&broker->queues, queue);
    broker->queue_count++;
    return queue;
}

static void leave_paused(struct broker *broker, struct queue *queue)
{
    moment_set(&broker->pauses, &queue->resumes, NSEC_NEVER, 0);
    if (list_linked(&queue->recorded)) {
        list_remove(&queue->recorded);
        broker->paused--;
        broker->paused_names -= queue->name_len;
    }
}

static void join_paused(struct broker *broker, struct queue *queue, nsec_t until_at)
{
    moment_set(&broker->pauses, &queue->resumes, until_at, ++broker->last_pause);
    if (!list_linked(&queue->recorded)) {
        list_append(&broker->recorded, &queue->recorded);
        broker->paused++;
        broker->paused_names += queue->name_len;
    }
}

void queue_free(struct broker *broker, struct queue *queue)
{
    leave_paused(broker, queue);
    list_remove(&queue->matching);
    list_remove(&queue->nudging);
    hash_remove(&broker->queues_by_name, &queue->by_name);
    table_remove(&broker->queues, queue->place);
    broker->queue_count--;
    free(queue);
}

// A pause goes with its queue, and the store must not bring it back. Where it has no room to be
// told so, the queue stays until the pause is over.
static void give_up_pause(struct broker *broker, struct queue *queue)
{
    const struct record record = {.kind = RECORD_PAUSE, .queue = queue};

    if (broker->retired || (broker->recorder && !broker->recorder->room(broker->store, &record))) {
        queue->lingers = true;
        return;
    }
    queue_resume(broker, queue);
    if (broker->recorder) {
        // Nobody waits for it: who is told of a job that comes later knows that this came before.
        (void)broker->recorder->append(broker->store, &record);
    }
}

static APART void vanish(struct broker *broker, struct queue *queue)
{
    if (queue->paused) {
        give_up_pause(broker, queue);
    }
    if (!queue->lingers) {
        queue_free(broker, queue);
    }
}

void queue_vanish_if_idle(struct broker *broker, struct queue *queue)
{
    if (queue->kept || queue->lingers || queue->holders > 0 || queue->subscriptions > 0 ||
        queue_jobs(queue) > 0 || broker->restoring) {
        return;
    }
    vanish(broker, queue);
}

enum status broker_queue_hold(struct broker *broker, struct slice name, struct queue **queue)
{
    uint64_t hash;

    if (name.len == 0 || memchr(name.ptr, '\0', name.len)) {
        return STATUS_BAD_NAME;
    }
    if (name.len > QUEUE_NAME_MAX) {
        return STATUS_TOO_LARGE;
    }
    hash = hash_bytes(name.ptr, name.len, broker->secret);
    *queue = find_by_hash(broker, name, hash);
    if (!*queue) {
        *queue = queue_new(broker, name, hash);
    }
    if (!*queue) {
        return STATUS_NO_MEMORY;
    }
    (*queue)->holders++;
    return STATUS_OK;
}

void broker_queue_drop(struct broker *broker, struct queue *queue)
{
    ENSURE(queue->holders > 0);
    queue->holders--;
    queue_vanish_if_idle(broker, queue);
}

struct queue *broker_queue_find(struct broker *broker, struct slice name)
{
    return find_by_hash(broker, name, hash_bytes(name.ptr, name.len, broker->secret));
}

void broker_queue_keep(struct broker *broker, struct queue *queue, bool keep)
{
    queue->kept = keep;
    queue_vanish_if_idle(broker, queue);
}

struct queue *broker_queue_next(struct broker *broker, uint32_t *cursor)
{
    return table_next(&broker->queues, cursor);
}

void broker_queue_limit(struct queue *queue, const uint32_t limits[BAND_COUNT])
{
    memcpy(queue->limits, limits, sizeof queue->limits);
}

enum status broker_pause(struct broker *broker, struct queue *queue, nsec_t pause_for)
{
    const struct record record = {.kind = RECORD_PAUSE, .queue = queue};

    broker->position = 0;
    if (broker->recorder && !broker->recorder->room(broker->store, &record)) {
        return STATUS_NO_ROOM;
    }
    queue->pauses++;
    if (pause_for > 0) {
        queue_pause(broker, queue, pause_for, nsec_add(broker->now.mono, pause_for));
    } else if (queue->paused) {
        unsigned budget = BROKER_SLICE;

        queue_resume(broker, queue);
        match_backlog(broker, &budget);
    }
    if (broker->recorder) {
        broker_raise(broker, broker->recorder->append(broker->store, &record));
    }
    queue_vanish_if_idle(broker, queue);
    return STATUS_OK;
}

void queue_pause(struct broker *broker, struct queue *queue, nsec_t pause_for, nsec_t until_at)
{
    queue->paused = true;
    queue->pause_for = pause_for;
    join_paused(broker, queue, until_at);
    choice_review(broker, queue);
    list_remove(&queue->matching);
}

void queue_resume(struct broker *broker, struct queue *queue)
{
    queue->paused = false;
    queue->lingers = false;
    queue->pause_for = 0;
    leave_paused(broker, queue);
    choice_review(broker, queue);
    if (queue_open(queue)) {
        // Naps are nudged for what the waits leave over.
        list_append(&broker->matching, &queue->matching);
    }
}

struct slice queue_name(const struct queue *queue)
{
    return slice_of(queue->name, queue->name_len);
}

const struct job *queue_peek_ready(const struct queue *queue)
{
    return job_in_tree(tree_first(&queue->ready));
}

const struct job *queue_peek_delayed(const struct broker *broker, const struct queue *queue)
{
    const struct job *mono = job_in_tree(tree_first(&queue->delayed[CLOCK_MONO]));
    const struct job *wall = job_in_tree(tree_first(&queue->delayed[CLOCK_WALL]));

    if (!mono || !wall) {
        return mono ? mono : wall;
    }
    return wall->due_at - broker->now.wall < mono->due_at - broker->now.mono ? wall : mono;
}

const struct job *queue_peek_buried(const struct queue *queue)
{
    const struct list_node *node = list_first(&queue->buried);

    return node ? job_in_list(node) : NULL;
}

void broker_queue_info(const struct broker *broker, const struct queue *queue,
                       struct queue_info *info)
{
    *info = (struct queue_info){
        .total_jobs = queue->total_jobs,
        .ended = queue->ended,
        .pauses = queue->pauses,
        .holders = queue->holders,
        .subscriptions = queue->subscriptions,
        .waiting = queue->waiting,
        .pause_for = queue->pause_for,
        .kept = queue->kept,
    };
    if (queue->paused && queue->resumes.at > broker->now.mono) {
        info->pause_left_for = queue->resumes.at - broker->now.mono;
    }
    memcpy(info->jobs, queue->jobs, sizeof info->jobs);
    memcpy(info->ready, queue->ready_in, sizeof info->ready);
    memcpy(info->limits, queue->limits, sizeof info->limits);
}
