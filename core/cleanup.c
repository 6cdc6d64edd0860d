/* SPDX-License-Identifier: MIT */
#include "core/cleanup.h"

#include "core/kept_rate.h"
#include "core/match.h"
#include "core/charge.h"
#include "core/gate.h"
#include "core/key.h"
#include "core/subscription.h"
#include "core/job_state.h"
#include "core/job_private.h"
#include "core/queue_private.h"
#include "core/session_private.h"

// APART is worth 2 % of a pipelined submission, by tests/budget.
static APART void vanish(struct broker *broker, struct queue *queue)
{
    if (queue->gate) {
        if (gate_retains(broker, queue)) {
            return;
        }
        kept_rate_rested(broker, queue);
    }
    queue_free(broker, queue);
}

void queue_vanish_if_idle(struct broker *broker, struct queue *queue)
{
    if (queue->subscriptions > 0 || queue->holders > 0 || queue->kept || queue_paused(queue) ||
        queue_jobs(queue) > 0 || broker->restoring.active) {
        return;
    }
    vanish(broker, queue);
}

void subscription_end(struct subscription *subscription)
{
    struct session *session = subscription->session;
    struct queue *queue = subscription_queue(subscription);

    subscription_remove(subscription);
    if (session->subscriptions == LINKS_IN_SLICE) {
        waiting_review(session);
    }
    if (session->holds_nudge && session->nudged_by == queue->place) {
        match_pass_nudge_on(session, NULL);
    }
    queue_vanish_if_idle(session->broker, queue);
}

void job_end(struct broker *broker, struct job *job)
{
    struct queue *queue = queue_at(broker, job);

    job_leave(broker, job);
    key_yield(broker, job);
    job_free(broker, job);
    queue_vanish_if_idle(broker, queue);
}
