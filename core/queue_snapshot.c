/* SPDX-License-Identifier: MIT */

#include "core/queue_private.h"

#include "core/broker_private.h"
#include "core/charge.h"

// The skipped queues that cost as much as one link.
#define SKIPPED_PER_LINK 8
// The queues that are skipped at once.
#define SKIPPED_AT_ONCE (BROKER_SLICE * SKIPPED_PER_LINK)

static struct queue_snapshot *snapshot_in(struct list_node *all)
{
    return list_item(all, struct queue_snapshot, all);
}

static void snapshot_insert(struct broker *broker, struct queue_snapshot *snapshot)
{
    list_append(&broker->snapshots.all, &snapshot->all);
    list_init(&snapshot->sorting);
    list_init(&snapshot->gone);
    list_init(&snapshot->unsorted);
}

void queue_snapshots_init(struct broker *broker)
{
    list_init(&broker->snapshots.all);
    list_init(&broker->snapshots.to_sort);
    broker->snapshots.first = TABLE_NONE;
    broker->snapshots.last = TABLE_NONE;
    snapshot_insert(broker, &broker->snapshots.none);
}

static struct queue *queue_in_place(const struct broker *broker, uint32_t place)
{
    return place == TABLE_NONE ? NULL : table_get(&broker->index.queues, place);
}

void queue_snapshots_add(struct broker *broker, struct queue *queue)
{
    struct queue *earlier = queue_in_place(broker, broker->snapshots.last);

    queue->came_at = ++broker->snapshots.moment;
    queue->earlier = broker->snapshots.last;
    queue->later = TABLE_NONE;
    *(earlier ? &earlier->later : &broker->snapshots.first) = queue->place;
    broker->snapshots.last = queue->place;
}

void queue_snapshots_remove(struct broker *broker, const struct queue *queue)
{
    struct queue *earlier = queue_in_place(broker, queue->earlier);
    struct queue *later = queue_in_place(broker, queue->later);

    *(earlier ? &earlier->later : &broker->snapshots.first) = queue->later;
    *(later ? &later->earlier : &broker->snapshots.last) = queue->earlier;
}

// True if the snapshot contains the queue, provided that it was not removed before the snapshot
// began.
static bool snapshot_has(const struct queue_snapshot *snapshot, const struct queue *queue)
{
    return queue->came_at <= snapshot->at;
}

bool queue_snapshots_retain(struct broker *broker, struct queue *queue)
{
    struct queue_snapshot *youngest = snapshot_in(broker->snapshots.all.prev);

    if (!snapshot_has(youngest, queue)) {
        return false;
    }
    broker->snapshots.retained++;
    queue->gone = true;
    queue->passed = false;
    queue->went_at = ++broker->snapshots.moment;
    list_init(&queue->in_snapshot);
    list_append(&youngest->gone, &queue->in_snapshot);
    return true;
}

// Frees a queue that no snapshot contains, and subtracts the cost from the budget.
static void snapshots_free_queue(struct broker *broker, struct queue *queue, unsigned *budget)
{
    if (queue->passed) {
        list_each (node, &broker->snapshots.all) {
            struct queue_snapshot *snapshot = snapshot_in(node);

            snapshot->passed = snapshot->passed == queue ? NULL : snapshot->passed;
            *budget -= *budget > 1;
        }
    }
    broker->snapshots.retained--;
    queue_forget(broker, queue);
}

void queue_snapshots_sort(struct broker *broker)
{
    for (unsigned budget = BROKER_SLICE; budget > 0 && !list_empty(&broker->snapshots.to_sort);) {
        struct queue_snapshot *snapshot =
            list_item(list_first(&broker->snapshots.to_sort), struct queue_snapshot, sorting);
        struct list_node *node = list_first(&snapshot->unsorted);
        struct queue *queue;

        if (!node) {
            list_remove(&snapshot->sorting);
            continue;
        }
        queue = list_item(node, struct queue, in_snapshot);
        list_remove(node);
        if (snapshot_has(snapshot, queue)) {
            list_append(&snapshot->gone, node);
        } else {
            snapshots_free_queue(broker, queue, &budget);
        }
        budget--;
    }
}

void queue_snapshot_begin(struct broker *broker, struct queue_snapshot *snapshot)
{
    snapshot_insert(broker, snapshot);
    snapshot->at = broker->snapshots.moment;
    queue_snapshot_rewind(snapshot);
}

// Skips queues that were removed before the snapshot began, from that one on. True: it has skipped
// as many as it may at once. Older snapshots may retain a large number of them.
static bool snapshot_skip_gone(struct broker *broker, struct queue_snapshot *snapshot,
                               struct queue **queue)
{
    struct queue *last = *queue;
    uint32_t passes = 0;

    for (; *queue && (*queue)->gone && (*queue)->went_at <= snapshot->at &&
           snapshot->passes + passes < SKIPPED_AT_ONCE;
         passes++) {
        last = *queue;
        *queue = queue_in_place(broker, last->later);
    }
    charge_links(broker, passes / SKIPPED_PER_LINK);
    snapshot->passes += passes;
    if (snapshot->passes < SKIPPED_AT_ONCE) {
        return false;
    }
    ENSURE(last);
    last->passed = true;
    snapshot->passed = last;
    snapshot->passes = 0;
    return true;
}

// The cursor is always a queue that the snapshot contains, which stays until the snapshot ends.
const struct queue *queue_snapshot_next(struct broker *broker, struct queue_snapshot *snapshot)
{
    const struct queue *from = snapshot->passed ? snapshot->passed : snapshot->cursor;
    struct queue *queue = queue_in_place(broker, from ? from->later : broker->snapshots.first);

    if (snapshot->ended || snapshot_skip_gone(broker, snapshot, &queue)) {
        return NULL;
    }
    snapshot->passed = NULL;
    if (!queue || !snapshot_has(snapshot, queue)) {
        snapshot->ended = true;
        return NULL;
    }
    snapshot->cursor = queue;
    return queue;
}

bool queue_has_gone(const struct queue *queue)
{
    return queue->gone;
}

void queue_snapshot_rewind(struct queue_snapshot *snapshot)
{
    snapshot->cursor = NULL;
    snapshot->passed = NULL;
    snapshot->passes = 0;
    snapshot->ended = false;
}

void queue_snapshot_end(struct broker *broker, struct queue_snapshot *snapshot)
{
    struct queue_snapshot *older = snapshot_in(snapshot->all.prev);

    list_append_all(&older->unsorted, &snapshot->gone);
    list_append_all(&older->unsorted, &snapshot->unsorted);
    if (!list_empty(&older->unsorted) && !list_linked(&older->sorting)) {
        list_append(&broker->snapshots.to_sort, &older->sorting);
    }
    list_remove(&snapshot->sorting);
    list_remove(&snapshot->all);
}
