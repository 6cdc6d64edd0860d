/* SPDX-License-Identifier: MIT */
#include "core/queue_private.h"

#include "core/broker_private.h"

static void leave_paused(struct broker *broker, struct queue *queue)
{
    timer_set(&broker->timers.pauses, &queue->pause_end, NSEC_NEVER, 0);
    if (list_linked(&queue->recorded)) {
        list_remove(&queue->recorded);
        broker->paused.count--;
        broker->paused.names_len -= queue->name_len;
    }
}

static void join_paused(struct broker *broker, struct queue *queue, nsec_t until_at)
{
    timer_set(&broker->timers.pauses, &queue->pause_end, until_at, ++broker->paused.last);
    if (!list_linked(&queue->recorded)) {
        list_append(&broker->paused.by_record, &queue->recorded);
        broker->paused.count++;
        broker->paused.names_len += queue->name_len;
    }
}

void queue_pause(struct broker *broker, struct queue *queue, nsec_t pause_for, nsec_t until_at)
{
    queue->pause_for = pause_for;
    join_paused(broker, queue, until_at);
    queue_close(broker, queue, CLOSED_PAUSED);
}

void queue_resume(struct broker *broker, struct queue *queue)
{
    queue->pause_for = 0;
    leave_paused(broker, queue);
    queue_reopen(broker, queue, CLOSED_PAUSED);
}

void queue_forget_pause(struct broker *broker, struct queue *queue)
{
    leave_paused(broker, queue);
}
