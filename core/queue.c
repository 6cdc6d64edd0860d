/* SPDX-License-Identifier: MIT */

#include "core/queue_private.h"

#include "core/broker_private.h"
#include "core/job_private.h"
#include "core/observe.h"
#include "core/policy_private.h"

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

    timer_set(&broker->timers.delays[clock], &queue->due[clock], first ? first->due_at : NSEC_NEVER,
              first ? first->order : 0);
}

static struct queue *queue_find_by_hash(const struct broker *broker, struct slice name,
                                        uint64_t hash)
{
    struct hash_node *node = hash_first(&broker->index.queues_by_name, hash);

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

    if (!hash_make_room(&broker->index.queues_by_name) || !table_make_room(&broker->index.queues)) {
        return NULL;
    }
    queue = slab_calloc(&broker->slab, sizeof *queue + name.len);
    if (!queue) {
        return NULL;
    }
    queue->name_hash = hash;
    queue->name_len = (uint16_t)name.len;
    memcpy(queue->name, name.ptr, name.len);
    if (!broker->restoring.active) {
        list_init(&queue->buried);
    }
    list_init(&queue->job_waits);
    list_init(&queue->nudge_waits);
    list_init(&queue->opening);
    list_init(&queue->nudging);
    list_init(&queue->recorded);
    list_init(&queue->policed);
    for (unsigned clock = 0; clock < CLOCKS; clock++) {
        queue->due[clock].at = NSEC_NEVER;
    }
    queue->pause_end.at = NSEC_NEVER;
    if (broker->policies.set.count > 0 && !policy_attach(broker, queue, policy_for(broker, name))) {
        slab_free(&broker->slab, queue, sizeof *queue + name.len);
        return NULL;
    }
    hash_insert(&broker->index.queues_by_name, &queue->by_name);
    queue->place = table_put(&broker->index.queues, queue);
    queue_snapshots_add(broker, queue);
    broker->count.queues++;
    return queue;
}

void queue_free(struct broker *broker, struct queue *queue)
{
    queue_unoffer(broker, queue);
    list_remove(&queue->nudging);
    ENSURE(policy_attach(broker, queue, NULL));
    list_remove(&queue->policed);
    hash_remove(&broker->index.queues_by_name, &queue->by_name);
    observe_queue_gone(broker, queue);
    broker->count.queues--;
    if (broker->index.last_named == queue) {
        broker->index.last_named = NULL;
    }
    if (!queue_snapshots_retain(broker, queue)) {
        queue_forget(broker, queue);
    }
}

void queue_forget(struct broker *broker, struct queue *queue)
{
    queue_snapshots_remove(broker, queue);
    table_remove(&broker->index.queues, queue->place);
    slab_free(&broker->slab, queue, sizeof *queue + queue->name_len);
}

// The queue that was found last, NULL if the name is another one. Most names are looked up several
// times in a row, so that this spares a hash.
static struct queue *queue_found_last(const struct broker *broker, struct slice name)
{
    struct queue *last = broker->index.last_named;

    return last && slice_equal(queue_name(last), name) ? last : NULL;
}

static enum status queue_hold_other(struct broker *broker, struct slice name, struct queue **queue)
{
    uint64_t hash;

    if (name.len == 0 || memchr(name.ptr, '\0', name.len)) {
        return STATUS_BAD_NAME;
    }
    if (name.len > QUEUE_NAME_MAX) {
        return STATUS_TOO_LARGE;
    }
    hash = siphash(&broker->key, name.ptr, name.len);
    *queue = queue_find_by_hash(broker, name, hash);
    if (!*queue) {
        *queue = queue_new(broker, name, hash);
    }
    broker->index.last_named = *queue;
    if (!*queue) {
        return STATUS_NO_MEMORY;
    }
    (*queue)->holders++;
    return STATUS_OK;
}

// The name of an existing queue is valid, so that it is not checked.
enum status queue_hold_uncapped(struct broker *broker, struct slice name, struct queue **queue)
{
    *queue = queue_found_last(broker, name);
    if (!*queue) {
        return queue_hold_other(broker, name, queue);
    }
    (*queue)->holders++;
    return STATUS_OK;
}

enum status queue_hold(struct broker *broker, struct slice name, struct queue **queue)
{
    if (broker->max_queues > 0 && broker->count.queues >= broker->max_queues &&
        !broker_queue_find(broker, name)) {
        return STATUS_TOO_MANY_QUEUES;
    }
    return queue_hold_uncapped(broker, name, queue);
}

struct queue *broker_queue_find(struct broker *broker, struct slice name)
{
    struct queue *queue = queue_found_last(broker, name);

    return queue ? queue
                 : queue_find_by_hash(broker, name, siphash(&broker->key, name.ptr, name.len));
}

struct slice queue_name(const struct queue *queue)
{
    return queue_name_slice(queue);
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
