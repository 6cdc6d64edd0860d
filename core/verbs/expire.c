/* SPDX-License-Identifier: MIT */
#include "core/verbs/expire.h"

#include "core/matching/cleanup.h"
#include "core/matching/match.h"
#include "core/matching/outcome.h"
#include "core/model/broker_private.h"
#include "core/model/calendar.h"
#include "core/model/charge.h"
#include "core/model/expiry.h"
#include "core/model/lookup.h"
#include "core/model/loss.h"
#include "core/model/observe.h"
#include "core/model/states.h"

// So often are all ready jobs looked at while the oldest may stay.
#define LOOKS_EACH 64
// What a wait and an age, which are counted by different clocks in different steps, may differ by.
#define SAME_FOR (4 * NSEC_PER_MSEC)

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

// All have been looked at.
static void end_look(struct broker *broker, struct queue *queue)
{
    nsec_t every_for = queue->policy->rule.spec.expire_after_for / LOOKS_EACH;
    nsec_t soonest_at = nsec_add(broker->now.mono, every_for);
    nsec_t next_at = expiry_over_at(broker, queue, queue->gate->waited_for);

    if (queue->jobs[JOB_READY] == 0) {
        next_at = NSEC_NEVER;
    } else if (next_at < soonest_at) {
        next_at = soonest_at;
    }
    expiry_set_look(broker, queue, next_at);
}

// Whether the job has been ready since it was submitted, so that those behind it, of its priority,
// came later. One that was delayed or held may stand before others that have waited longer.
static bool came_straight(const struct broker *broker, const struct job *job)
{
    return calendar_since(broker, job->created_ms) - job_waited_for(broker, job) < SAME_FOR;
}

static void look_at(struct broker *broker, struct queue *queue, struct job *job)
{
    struct gate *gate = queue->gate;
    nsec_t waited_for = job_waited_for(broker, job);

    gate->look_pri = job->pri;
    gate->look_seq = job->seq;
    if (expiry_is_over(broker, queue, job)) {
        expire(broker, job);
        return;
    }
    gate->waited_for = waited_for > gate->waited_for ? waited_for : gate->waited_for;
    if (came_straight(broker, job)) {
        gate->look_seq = JOB_SEQ_MAX;
    }
}

void expire_step(struct broker *broker, struct moment *looks)
{
    struct gate *gate = container_of(looks, struct gate, looks);
    struct queue *queue = gate->queue;
    struct job *next = queue_ready_after(queue, gate->look_pri, gate->look_seq);

    queue->holders++;
    if (next) {
        look_at(broker, queue, next);
    } else {
        end_look(broker, queue);
    }
    expiry_review(broker, queue);
    queue->holders--;
    queue_vanish_if_idle(broker, queue);
}

// Their moment has come, and that of few others: those look on meanwhile.
bool expire_stale(struct broker *broker, unsigned *budget)
{
    uint64_t stale = broker->gates.stale;

    while (*budget > 0 && broker->gates.stale == stale) {
        struct moment *first = moment_first(&broker->timers.looks);

        if (!first || first->at > broker->now.mono) {
            return false;
        }
        expire_step(broker, first);
        charge_pay_unit(broker, budget);
    }
    return broker->gates.stale < stale;
}
