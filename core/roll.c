/* SPDX-License-Identifier: MIT */
#include "core/queue_private.h"

#include "core/broker_private.h"
#include "core/charge.h"

// So many queues that are passed over cost as much as one that is looked at.
#define PASSED_PER_LINK 8
// So many are passed over at once.
#define PASSED_AT_ONCE (BROKER_SLICE * PASSED_PER_LINK)

static struct queue_snapshot *roll_in(struct list_node *all)
{
    return list_item(all, struct queue_snapshot, all);
}

static void insert(struct broker *broker, struct queue_snapshot *roll)
{
    list_append(&broker->snapshots.all, &roll->all);
    list_init(&roll->sorting);
    list_init(&roll->gone);
    list_init(&roll->unsorted);
}

void queue_snapshots_init(struct broker *broker)
{
    list_init(&broker->snapshots.all);
    list_init(&broker->snapshots.to_sort);
    broker->snapshots.first = TABLE_NONE;
    broker->snapshots.last = TABLE_NONE;
    insert(broker, &broker->snapshots.none);
}

static struct queue *roll_queue_at(const struct broker *broker, uint32_t place)
{
    return place == TABLE_NONE ? NULL : table_get(&broker->index.queues, place);
}

void queue_snapshots_add(struct broker *broker, struct queue *queue)
{
    struct queue *earlier = roll_queue_at(broker, broker->snapshots.last);

    queue->came_at = ++broker->snapshots.moment;
    queue->earlier = broker->snapshots.last;
    queue->later = TABLE_NONE;
    *(earlier ? &earlier->later : &broker->snapshots.first) = queue->place;
    broker->snapshots.last = queue->place;
}

void queue_snapshots_remove(struct broker *broker, const struct queue *queue)
{
    struct queue *earlier = roll_queue_at(broker, queue->earlier);
    struct queue *later = roll_queue_at(broker, queue->later);

    *(earlier ? &earlier->later : &broker->snapshots.first) = queue->later;
    *(later ? &later->earlier : &broker->snapshots.last) = queue->earlier;
}

// Whether a queue is on the roll that had not gone before its moment.
static bool has(const struct queue_snapshot *roll, const struct queue *queue)
{
    return queue->came_at <= roll->at;
}

static bool went_before(const struct queue_snapshot *roll, const struct queue *queue)
{
    return queue->gone && queue->went_at <= roll->at;
}

bool queue_snapshots_retain(struct broker *broker, struct queue *queue)
{
    struct queue_snapshot *youngest = roll_in(broker->snapshots.all.prev);

    if (!has(youngest, queue)) {
        return false;
    }
    broker->snapshots.kept++;
    queue->gone = true;
    queue->passed = false;
    queue->went_at = ++broker->snapshots.moment;
    list_init(&queue->in_roll);
    list_append(&youngest->gone, &queue->in_roll);
    return true;
}

// No roll has it. What that cost is taken off the budget.
static void forget_gone(struct broker *broker, struct queue *queue, unsigned *budget)
{
    if (queue->passed) {
        list_each (node, &broker->snapshots.all) {
            struct queue_snapshot *roll = roll_in(node);

            roll->passed = roll->passed == queue ? NULL : roll->passed;
            *budget -= *budget > 1;
        }
    }
    broker->snapshots.kept--;
    queue_forget(broker, queue);
}

void queue_snapshots_sort(struct broker *broker)
{
    for (unsigned budget = BROKER_SLICE; budget > 0 && !list_empty(&broker->snapshots.to_sort);) {
        struct queue_snapshot *roll =
            list_item(list_first(&broker->snapshots.to_sort), struct queue_snapshot, sorting);
        struct list_node *node = list_first(&roll->unsorted);
        struct queue *queue;

        if (!node) {
            list_remove(&roll->sorting);
            continue;
        }
        queue = list_item(node, struct queue, in_roll);
        list_remove(node);
        if (has(roll, queue)) {
            list_append(&roll->gone, node);
        } else {
            forget_gone(broker, queue, &budget);
        }
        budget--;
    }
}

void queue_snapshot_begin(struct broker *broker, struct queue_snapshot *roll)
{
    insert(broker, roll);
    roll->at = broker->snapshots.moment;
    queue_snapshot_rewind(roll);
}

// Passes over queues that had gone before the roll's moment, from that one on. True: it has passed
// over as many as may be at once. Of those that older rolls have, many may have gone.
static bool pass_over(struct broker *broker, struct queue_snapshot *roll, struct queue **queue)
{
    struct queue *last = *queue;
    uint32_t passes = 0;

    for (; *queue && went_before(roll, *queue) && roll->passes + passes < PASSED_AT_ONCE;
         passes++) {
        last = *queue;
        *queue = roll_queue_at(broker, last->later);
    }
    charge_links(broker, passes / PASSED_PER_LINK);
    roll->passes += passes;
    if (roll->passes < PASSED_AT_ONCE) {
        return false;
    }
    ENSURE(last);
    last->passed = true;
    roll->passed = last;
    roll->passes = 0;
    return true;
}

// The cursor stands at queues of the roll alone, which stay as long as the roll.
const struct queue *queue_snapshot_next(struct broker *broker, struct queue_snapshot *roll)
{
    const struct queue *from = roll->passed ? roll->passed : roll->cursor;
    struct queue *queue = roll_queue_at(broker, from ? from->later : broker->snapshots.first);

    if (roll->ended || pass_over(broker, roll, &queue)) {
        return NULL;
    }
    roll->passed = NULL;
    if (!queue || !has(roll, queue)) {
        roll->ended = true;
        return NULL;
    }
    roll->cursor = queue;
    return queue;
}

bool queue_has_gone(const struct queue *queue)
{
    return queue->gone;
}

void queue_snapshot_rewind(struct queue_snapshot *roll)
{
    roll->cursor = NULL;
    roll->passed = NULL;
    roll->passes = 0;
    roll->ended = false;
}

void queue_snapshot_end(struct broker *broker, struct queue_snapshot *roll)
{
    struct queue_snapshot *older = roll_in(roll->all.prev);

    list_append_all(&older->unsorted, &roll->gone);
    list_append_all(&older->unsorted, &roll->unsorted);
    if (!list_empty(&older->unsorted) && !list_linked(&older->sorting)) {
        list_append(&broker->snapshots.to_sort, &older->sorting);
    }
    list_remove(&roll->sorting);
    list_remove(&roll->all);
}

uint64_t broker_snapshot_queues(const struct broker *broker)
{
    return broker->snapshots.kept;
}
