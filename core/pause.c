/* SPDX-License-Identifier: MIT */
#include "core/pause.h"

#include "core/broker_private.h"
#include "core/open_queues.h"

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

void queue_pause(struct broker *broker, struct queue *queue, nsec_t pause_for, nsec_t until_at)
{
    queue->paused = true;
    queue->pause_for = pause_for;
    join_paused(broker, queue, until_at);
    open_queue_review(broker, queue);
    list_remove(&queue->matching);
}

void queue_resume(struct broker *broker, struct queue *queue)
{
    queue->paused = false;
    queue->lingers = false;
    queue->pause_for = 0;
    leave_paused(broker, queue);
    open_queue_review(broker, queue);
    if (queue_open(queue)) {
        // Naps are nudged for what the waits leave over.
        list_append(&broker->matching, &queue->matching);
    }
}

void queue_forget_pause(struct broker *broker, struct queue *queue)
{
    leave_paused(broker, queue);
}
