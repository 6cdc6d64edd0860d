/* SPDX-License-Identifier: MIT */

// What has been counted, told to those who watch over a broker.

#include "core/broker_private.h"
#include "core/job_state.h"
#include "core/job_private.h"
#include "core/observe.h"
#include "core/queue_private.h"
#include "core/session_private.h"

// So many priorities are looked at from either end.
#define PRIORITIES 32

void queue_counts(const struct queue *queue, struct counts *counts)
{
    *counts = queue->ever;
}

void broker_counts(const struct broker *broker, struct counts *counts)
{
    *counts = broker->count.ever;
}

void broker_observe(struct broker *broker, bool observe)
{
    broker->observing = observe;
}

const struct queue_times *queue_times(const struct queue *queue)
{
    return queue->times;
}

const struct queue_times *broker_times(const struct broker *broker)
{
    return &broker->times;
}

static const struct job *longer(const struct broker *broker, const struct job *a,
                                const struct job *b)
{
    return !a || job_waited_for(broker, b) > job_waited_for(broker, a) ? b : a;
}

const struct job *queue_oldest_ready(const struct broker *broker, const struct queue *queue,
                                     nsec_t *age_for)
{
    const struct job *first = job_in_tree(tree_first(&queue->ready));
    const struct job *oldest = NULL;
    const struct job *last;
    uint32_t pri = 0;

    for (int i = 0; i < PRIORITIES && first; i++) {
        oldest = longer(broker, oldest, first);
        pri = first->pri;
        first = queue_ready_after(queue, pri, JOB_SEQ_MAX);
    }
    last = first ? queue_ready_last(queue) : NULL;
    for (int i = 0; i < PRIORITIES && last && last->pri > pri; i++) {
        oldest = longer(broker, oldest, queue_ready_after(queue, last->pri, 0));
        last = queue_ready_before(queue, last->pri);
    }
    *age_for = oldest ? job_waited_for(broker, oldest) : 0;
    return oldest;
}

bool job_state_for(const struct broker *broker, const struct job *job, nsec_t *state_for)
{
    if (job->state != JOB_READY) {
        return job_held_for(broker, job, state_for);
    }
    *state_for = job_waited_for(broker, job);
    return true;
}

void session_info(const struct session *session, struct session_info *info)
{
    *info = (struct session_info){
        .number = session->number,
        .held = session->lease_count,
        .watches = session->extra ? session->extra->watch_count : 0,
        .subscriptions = session->subscriptions,
        .waits_for_job = session->wait_state == WAITING_FOR_JOB,
        .waits_for_nudge = session->wait_state == WAITING_FOR_NUDGE,
        .producer = session->producer,
        .worker = session->worker,
    };
}
