/* SPDX-License-Identifier: MIT */
#include "core/model/expiry.h"

#include "core/model/broker_private.h"
#include "core/model/observe.h"
#include "core/model/open_queues.h"

static nsec_t expires_for(const struct queue *queue)
{
    return queue->policy->rule.spec.expire_after_for;
}

// In steps, so many that the job has certainly been ready for that long.
static uint32_t steps_until_over(const struct queue *queue)
{
    return (uint32_t)(((expires_for(queue) - 1) >> WAIT_STEP_BITS) + 2);
}

// How long jobs may stay at least when all are back after a restart, or for as long as the policy
// lets them: one may have been held until then, which is not recorded, and the wall clock may have
// been set ahead.
static nsec_t spared_until(const struct broker *broker, const struct queue *queue)
{
    nsec_t spared_for =
        expires_for(queue) < EXPIRY_SPARED_FOR ? expires_for(queue) : EXPIRY_SPARED_FOR;

    return broker->restoring.ended_at + spared_for + (INT64_C(1) << WAIT_STEP_BITS);
}

bool expiry_is_over(const struct broker *broker, const struct queue *queue, const struct job *job)
{
    return broker->now.mono >= spared_until(broker, queue) &&
           wait_step(broker->now.mono) - job->ready_at_step >= steps_until_over(queue);
}

nsec_t expiry_over_at(const struct broker *broker, const struct queue *queue, nsec_t waited_for)
{
    nsec_t since = (broker->now.mono >> WAIT_STEP_BITS) - (waited_for >> WAIT_STEP_BITS);
    nsec_t at = (since + (nsec_t)steps_until_over(queue)) * (INT64_C(1) << WAIT_STEP_BITS);

    at = at > spared_until(broker, queue) ? at : spared_until(broker, queue);
    return at > broker->now.mono ? at : broker->now.mono;
}

void expiry_set_look(struct broker *broker, struct queue *queue, nsec_t at)
{
    struct gate *gate = queue->gate;

    gate->look_pri = 0;
    gate->look_seq = 0;
    gate->waited_for = 0;
    moment_set(&broker->timers.looks, &gate->looks, at, ++broker->gates.last);
}

bool expiry_hold(struct broker *broker, struct queue *queue)
{
    const struct job *first = job_in_tree(tree_first(&queue->ready));

    if (!queue_expires(queue) || !first || !expiry_is_over(broker, queue, first)) {
        return false;
    }
    expiry_set_look(broker, queue, broker->now.mono);
    queue_close(broker, queue, CLOSED_EXPIRING);
    broker->gates.stale++;
    return true;
}

static void open(struct broker *broker, struct queue *queue)
{
    if (queue->closed & CLOSED_EXPIRING) {
        broker->gates.stale--;
        queue_reopen(broker, queue, CLOSED_EXPIRING);
    }
}

void expiry_review(struct broker *broker, struct queue *queue)
{
    const struct job *first = job_in_tree(tree_first(&queue->ready));

    if (!first || !expiry_is_over(broker, queue, first)) {
        open(broker, queue);
    } else if ((queue->closed & CLOSED_EXPIRING) && queue->gate->looks.at > broker->now.mono) {
        // Its priority was changed: it has come to stand before where the look had been.
        expiry_set_look(broker, queue, broker->now.mono);
    }
}

void expiry_set(struct broker *broker, struct queue *queue)
{
    bool expires = queue->policy && expires_for(queue) > 0;
    struct gate *gate = queue->gate;

    if (gate->expires != expires) {
        gate->expires = expires;
        broker->gates.expiring += expires ? 1 : UINT64_MAX;
    }
    expiry_set_look(broker, queue,
                    expires && queue->jobs[JOB_READY] > 0 ? broker->now.mono : NSEC_NEVER);
    open(broker, queue);
}

void expiry_came(struct broker *broker, struct queue *queue)
{
    if (queue->gate->looks.at == NSEC_NEVER) {
        expiry_set_look(broker, queue, expiry_over_at(broker, queue, 0));
    }
}
