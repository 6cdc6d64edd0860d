/* SPDX-License-Identifier: MIT */
#include "core/roll.h"

#include "core/broker_private.h"
#include "core/charge.h"

// So many queues that are passed over cost as much as one that is looked at.
#define PASSED_PER_LINK 8
// So many are passed over at once.
#define PASSED_AT_ONCE (BROKER_SLICE * PASSED_PER_LINK)

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
    queue->passed = false;
    queue->went_at = ++broker->rolls.moment;
    list_init(&queue->in_roll);
    list_append(&youngest->gone, &queue->in_roll);
    return true;
}

// No roll has it. What that cost is taken off the budget.
static void forget_gone(struct broker *broker, struct queue *queue, unsigned *budget)
{
    if (queue->passed) {
        list_each (node, &broker->rolls.all) {
            struct queue_roll *roll = roll_in(node);

            roll->passed = roll->passed == queue ? NULL : roll->passed;
            *budget -= *budget > 1;
        }
    }
    broker->rolls.kept--;
    queue_forget(broker, queue);
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
            forget_gone(broker, queue, &budget);
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

// Passes over queues that had gone before the roll's moment, from that one on. True: it has passed
// over as many as may be at once. Of those that older rolls have, many may have gone.
static bool pass_over(struct broker *broker, struct queue_roll *roll, struct queue **queue)
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
const struct queue *broker_roll_next(struct broker *broker, struct queue_roll *roll)
{
    const struct queue *from = roll->passed ? roll->passed : roll->cursor;
    struct queue *queue = roll_queue_at(broker, from ? from->later : broker->rolls.first);

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

void broker_roll_rewind(struct queue_roll *roll)
{
    roll->cursor = NULL;
    roll->passed = NULL;
    roll->passes = 0;
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
