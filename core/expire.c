/* SPDX-License-Identifier: MIT */
#include "core/expire.h"

#include "core/cleanup.h"
#include "core/match.h"
#include "core/outcome.h"
#include "core/broker_private.h"
#include "core/expiry.h"
#include "core/job_state.h"
#include "core/job_private.h"
#include "core/observe.h"

static void expire(struct broker *broker, struct job *job)
{
    struct queue *queue = queue_at(broker, job);

    COUNT(broker, queue, expired);
    loss_log(broker, job, "job_expired", "it was ready for too long");
    outcome_expired(broker, job);
    match_serve_lost(broker);
}

bool expire_if_over(struct broker *broker, struct job *job)
{
    const struct queue *queue = queue_at(broker, job);

    if (job->state != JOB_READY || !queue_expires(queue) || !expiry_is_over(broker, queue, job)) {
        return false;
    }
    expire(broker, job);
    return true;
}

void expire_step(struct broker *broker, struct timer *over)
{
    struct gate *gate = container_of(over, struct gate, over);
    struct queue *queue = gate->queue;
    struct job *next = expiry_next(broker, queue);

    queue->holders++;
    if (next) {
        expire(broker, next);
    } else if (gate->indexes_at <= broker->now.mono) {
        expiry_index(broker, queue, queue_ready_after(queue, gate->indexed_pri, gate->indexed_seq));
    }
    expiry_review(broker, queue);
    queue->holders--;
    queue_vanish_if_idle(broker, queue);
}
