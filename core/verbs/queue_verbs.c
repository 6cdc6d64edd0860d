/* SPDX-License-Identifier: MIT */

// Queues as their holders see them: referred to, kept, limited, paused.

#include "core/matching/cleanup.h"
#include "core/matching/match.h"
#include "core/model/pause.h"
#include "core/model/queue.h"
#include "core/model/store.h"

enum status broker_queue_hold(struct broker *broker, struct slice name, struct queue **queue)
{
    if (name.len == 0 || memchr(name.ptr, '\0', name.len)) {
        return STATUS_BAD_NAME;
    }
    if (name.len > QUEUE_NAME_MAX) {
        return STATUS_TOO_LARGE;
    }
    *queue = queue_get(broker, name);
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

void broker_queue_keep(struct broker *broker, struct queue *queue, bool keep)
{
    queue->kept = keep;
    queue_vanish_if_idle(broker, queue);
}

struct queue *broker_queue_next(struct broker *broker, uint32_t *cursor)
{
    return table_next(&broker->index.queues, cursor);
}

void broker_queue_limit(struct queue *queue, const uint32_t limits[BAND_COUNT])
{
    memcpy(queue->limits, limits, sizeof queue->limits);
}

enum status broker_pause(struct broker *broker, struct queue *queue, nsec_t pause_for)
{
    broker->store.position = 0;
    if (!record_pause_has_space(broker, queue)) {
        return STATUS_NO_SPACE;
    }
    queue->pauses++;
    if (pause_for > 0) {
        queue_pause(broker, queue, pause_for, nsec_add(broker->now.mono, pause_for));
    } else if (queue->paused) {
        unsigned budget = BROKER_SLICE;

        queue_resume(broker, queue);
        match_backlog(broker, &budget);
    }
    broker_raise(broker, record_pause_append(broker, queue));
    queue_vanish_if_idle(broker, queue);
    return STATUS_OK;
}
