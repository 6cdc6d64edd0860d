/* SPDX-License-Identifier: MIT */

// A broker that is given back what a store has while somebody else goes on writing it: the present,
// and what goes by the present alone, of which the store says nothing.

#include "core/restore_tidy.h"

#include "core/cleanup.h"
#include "core/timers.h"
#include "core/memo_private.h"
#include "core/queue_private.h"
#include "core/restore.h"

void restore_note_idle(struct broker *broker, struct queue *queue)
{
    if (queue_jobs(queue) == 0 && !list_linked(&queue->nudging)) {
        list_append(&broker->restoring.idle, &queue->nudging);
    }
}

// The queue that was noted first, which is not any more; NULL for none.
static struct queue *next_idle(struct broker *broker)
{
    struct list_node *node = list_first(&broker->restoring.idle);

    if (!node) {
        return NULL;
    }
    list_remove(node);
    return list_item(node, struct queue, nudging);
}

void restore_end_idle(struct broker *broker)
{
    struct queue *queue;

    while ((queue = next_idle(broker))) {
        queue_vanish_if_idle(broker, queue);
    }
}

void broker_restore_now(struct broker *broker, struct instant now)
{
    ENSURE(broker->count.sessions == 0 && now.mono >= broker->now.mono);
    broker->now = now;
    calendar_review(broker);
}

static bool end_pause(struct broker *broker)
{
    struct timer *first = timer_first(&broker->timers.pauses);
    struct queue *queue;

    if (!first || first->at > broker->now.mono) {
        return false;
    }
    queue = container_of(first, struct queue, pause_end);
    queue_resume(broker, queue);
    restore_note_idle(broker, queue);
    return true;
}

static bool end_memo(struct broker *broker)
{
    struct timer *first = timer_first(&broker->memos.ends);

    if (!first || first->at > broker->now.wall) {
        return false;
    }
    memo_end(broker, first);
    return true;
}

// Nothing that is still stored says that such a queue was kept.
static bool end_queue(struct broker *broker)
{
    struct queue *queue = next_idle(broker);

    if (queue && queue_jobs(queue) == 0 && !queue_paused(queue)) {
        if (broker->restoring.queue == queue) {
            broker->restoring.queue = NULL;
        }
        queue_free(broker, queue);
    }
    return queue != NULL;
}

bool broker_restore_tidy(struct broker *broker, unsigned most)
{
    ENSURE(broker->count.sessions == 0);
    while (most > 0 && (end_pause(broker) || end_memo(broker) || end_queue(broker))) {
        most--;
    }
    return most > 0;
}
