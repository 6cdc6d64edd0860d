/* SPDX-License-Identifier: MIT */
#include "core/model/roll.h"

#include "core/model/broker_private.h"
#include "core/model/charge.h"

// So many queues that are passed over cost as much as one that is looked at.
#define PASSED_PER_LINK 8

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
    broker->rolls.first = TABLE_NONE;
    broker->rolls.last = TABLE_NONE;
    insert(broker, &broker->rolls.none);
}

static struct queue *roll_queue_at(const struct broker *broker, uint32_t place)
{
    return place == TABLE_NONE ? NULL : table_get(&broker->index.queues, place);
}

void roll_enter(struct broker *broker, struct queue *queue)
{
    struct queue *earlier = roll_queue_at(broker, broker->rolls.last);

    queue->came_at = ++broker->rolls.moment;
    queue->earlier = broker->rolls.last;
    queue->later = TABLE_NONE;
    *(earlier ? &earlier->later : &broker->rolls.first) = queue->place;
    broker->rolls.last = queue->place;
}

void roll_leave(struct broker *broker, const struct queue *queue)
{
    struct queue *earlier = roll_queue_at(broker, queue->earlier);
    struct queue *later = roll_queue_at(broker, queue->later);

    *(earlier ? &earlier->later : &broker->rolls.first) = queue->later;
    *(later ? &later->earlier : &broker->rolls.last) = queue->earlier;
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
    broker_roll_rewind(roll);
}

// The cursor stands at queues of the roll alone, which stay as long as the roll.
const struct queue *broker_roll_next(struct broker *broker, struct queue_roll *roll)
{
    uint32_t place = roll->cursor ? roll->cursor->later : broker->rolls.first;
    const struct queue *queue = roll->ended ? NULL : roll_queue_at(broker, place);
    size_t passed = 0;

    // Of those that older rolls have, many may have gone.
    for (; queue && went_before(roll, queue); queue = roll_queue_at(broker, queue->later)) {
        passed++;
    }
    charge_links(broker, passed / PASSED_PER_LINK);
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

void broker_roll_rewind(struct queue_roll *roll)
{
    roll->cursor = NULL;
    roll->ended = false;
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
