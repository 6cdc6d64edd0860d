/* SPDX-License-Identifier: MIT */

// What hosts and sessions ask of queues: to hold and keep them, to limit and pause them.

#include "core/queue.h"

#include "core/base/memory.h"
#include "core/match.h"
#include "core/outcome.h"
#include "core/record_private.h"

void broker_set_max_queues(struct broker *broker, uint64_t most)
{
    broker->max_queues = most;
}

enum status broker_queue_hold(struct broker *broker, struct slice name, struct queue **queue)
{
    if (memory_is_short() && !broker_queue_find(broker, name)) {
        return STATUS_NO_MEMORY;
    }
    return queue_hold(broker, name, queue);
}

enum status broker_queue_hold_uncapped(struct broker *broker, struct slice name,
                                       struct queue **queue)
{
    return queue_hold_uncapped(broker, name, queue);
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
    struct queue *queue;

    do {
        queue = table_next(&broker->index.queues, cursor);
    } while (queue && queue->gone);
    return queue;
}

enum status broker_queue_create(struct broker *broker, const struct session *by, struct slice name)
{
    struct queue *queue;
    enum status status = session_may_by_name(by, MAY_OPERATE, name)
                             ? broker_queue_hold(broker, name, &queue)
                             : STATUS_FORBIDDEN;

    if (status == STATUS_OK) {
        broker_queue_keep(broker, queue, true);
        broker_queue_drop(broker, queue);
    }
    return status;
}

enum status broker_queue_forget(struct broker *broker, const struct session *by, struct slice name)
{
    struct queue *queue = broker_queue_find(broker, name);

    if (!session_may_by_name(by, MAY_OPERATE, name)) {
        return STATUS_FORBIDDEN;
    }
    if (!queue) {
        return STATUS_NOT_FOUND;
    }
    if (queue_jobs(queue) > 0 || queue->subscriptions > 0) {
        return STATUS_IN_USE;
    }
    memset(queue->limits, 0, sizeof queue->limits);
    broker_queue_keep(broker, queue, false);
    return STATUS_OK;
}

enum status broker_queue_limit(const struct session *by, struct queue *queue,
                               const uint32_t limits[BAND_COUNT])
{
    if (!session_may(by, MAY_OPERATE, queue)) {
        return STATUS_FORBIDDEN;
    }
    memcpy(queue->limits, limits, sizeof queue->limits);
    return STATUS_OK;
}

enum status broker_pause(struct broker *broker, struct session *by, struct queue *queue,
                         nsec_t pause_for)
{
    broker->store.position = 0;
    if (!session_may(by, MAY_OPERATE, queue)) {
        return STATUS_FORBIDDEN;
    }
    if (!record_pause_has_space(broker, queue)) {
        return STATUS_NO_SPACE;
    }
    queue->pauses++;
    if (pause_for > 0) {
        queue_pause(broker, queue, pause_for, nsec_add(broker->now.mono, pause_for));
    } else if (queue_paused(queue)) {
        unsigned budget = BROKER_SLICE;

        queue_resume(broker, queue);
        match_backlog(broker, &budget);
    }
    broker_await_position(broker, record_pause_append(broker, queue));
    queue_vanish_if_idle(broker, queue);
    return STATUS_OK;
}
