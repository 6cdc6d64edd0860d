/* SPDX-License-Identifier: MIT */
#include "core/model/roll.h"

#include "core/model/broker_private.h"
#include "core/model/charge.h"

// So many places that are passed over cost as much as a queue that is looked at.
#define PLACES_PER_LINK 8

static struct queue_roll *roll_in(struct list_node *all)
{
    return list_item(all, struct queue_roll, all);
}

static void insert(struct broker *broker, struct queue_roll *roll)
{
    list_append(&broker->rolls.all, &roll->all);
    list_init(&roll->sorting);
    list_init(&roll->gone);
    list_init(&roll->unsorted);
}

void rolls_begin(struct broker *broker)
{
    list_init(&broker->rolls.all);
    list_init(&broker->rolls.to_sort);
    insert(broker, &broker->rolls.none);
}

// Whether a queue is on the roll that had not gone before its moment.
static bool has(const struct queue_roll *roll, const struct queue *queue)
{
    return queue->came_at <= roll->at;
}

static bool went_before(const struct queue_roll *roll, const struct queue *queue)
{
    return queue->gone && queue->went_at <= roll->at;
}

bool roll_keeps(struct broker *broker, struct queue *queue)
{
    struct queue_roll *youngest = roll_in(broker->rolls.all.prev);

    if (!has(youngest, queue)) {
        return false;
    }
    broker->rolls.kept++;
    queue->gone = true;
    queue->went_at = ++broker->rolls.moment;
    list_init(&queue->in_roll);
    list_append(&youngest->gone, &queue->in_roll);
    return true;
}

void rolls_sort(struct broker *broker)
{
    for (unsigned budget = BROKER_SLICE; budget > 0 && !list_empty(&broker->rolls.to_sort);) {
        struct queue_roll *roll =
            list_item(list_first(&broker->rolls.to_sort), struct queue_roll, sorting);
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
            broker->rolls.kept--;
            queue_forget(broker, queue);
        }
        budget--;
    }
}

void broker_roll_begin(struct broker *broker, struct queue_roll *roll)
{
    insert(broker, roll);
    roll->at = broker->rolls.moment;
    roll->cursor = 0;
}

const struct queue *broker_roll_next(struct broker *broker, struct queue_roll *roll)
{
    const struct queue *queue;
    uint32_t from = roll->cursor;

    do {
        queue = table_next(&broker->index.queues, &roll->cursor);
    } while (queue && (!has(roll, queue) || went_before(roll, queue)));
    // There may be far more places than queues: of those that have gone, or have come since.
    charge_links(broker, (roll->cursor - from) / PLACES_PER_LINK);
    return queue;
}

bool queue_has_gone(const struct queue *queue)
{
    return queue->gone;
}

void broker_roll_rewind(struct queue_roll *roll)
{
    roll->cursor = 0;
}

void broker_roll_end(struct broker *broker, struct queue_roll *roll)
{
    struct queue_roll *older = roll_in(roll->all.prev);

    list_append_all(&older->unsorted, &roll->gone);
    list_append_all(&older->unsorted, &roll->unsorted);
    if (!list_empty(&older->unsorted) && !list_linked(&older->sorting)) {
        list_append(&broker->rolls.to_sort, &older->sorting);
    }
    list_remove(&roll->sorting);
    list_remove(&roll->all);
}

uint64_t broker_rolls_kept(const struct broker *broker)
{
    return broker->rolls.kept;
}
