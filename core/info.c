/* SPDX-License-Identifier: MIT */

// Looking at things: what the broker, its queues and its jobs tell about themselves.

#include "core/timers.h"
#include "core/gate.h"
#include "core/job_private.h"
#include "core/queue_private.h"
#include "core/watch.h"

void broker_queue_info(const struct broker *broker, const struct queue *queue,
                       struct queue_info *info)
{
    *info = (struct queue_info){
        .total_jobs = queue->ever.submitted,
        .ended = queue->ever.completed + queue->ever.deleted - queue->ever.unwanted,
        .pauses = queue->pauses,
        .holders = queue->holders,
        .subscriptions = queue->subscriptions,
        .waiting = queue->waiting,
        .pause_for = queue->pause_for,
        .bytes = queue->bytes,
        .closed = queue->closed,
        .kept = queue->kept,
    };
    if (queue_paused(queue) && queue->pause_end.at > broker->now.mono) {
        info->pause_remaining_for = queue->pause_end.at - broker->now.mono;
    }
    if ((queue->closed & CLOSED_RATE) && gate_opens_at(queue) > broker->now.mono) {
        info->rate_remaining_for = gate_opens_at(queue) - broker->now.mono;
    }
    memcpy(info->jobs, queue->jobs, sizeof info->jobs);
    memcpy(info->ready, queue->ready_in, sizeof info->ready);
    memcpy(info->limits, queue->limits, sizeof info->limits);
}

const char *closed_reason_text(unsigned number)
{
    static const char *const words[CLOSED_REASONS] = {"paused", "rate", "running", "expiring"};

    ENSURE(number < CLOSED_REASONS);
    return words[number];
}

const struct queue *job_queue(const struct broker *broker, const struct job *job)
{
    return queue_at(broker, job);
}

bool job_held_by(const struct broker *broker, const struct job *job, const struct session *session)
{
    return session_holding(broker, job) == session;
}

const struct session *job_holder(const struct broker *broker, const struct job *job)
{
    return session_holding(broker, job);
}

static void extra_info(const struct job_extra *extra, struct job_info *info)
{
    info->delay_for = nsec_from_seconds(extra->delay);
    info->reserves += extra->reserves;
    info->timeouts = extra->timeouts;
    info->releases = extra->releases;
    info->buries = extra->buries;
    info->kicks = extra->kicks;
    info->max_attempts = extra->max_attempts;
    info->key_kind = (enum key_kind)extra->key_kind;
    info->key = slice_of(extra->names, extra->key_len);
    info->reducer = slice_of(extra->names + extra->key_len, extra->reducer_len);
}

void broker_job_info(const struct broker *broker, const struct job *job, struct job_info *info)
{
    const struct job_extra *extra = job->extra;
    const struct interest *interest = job_interest(job);

    *info = (struct job_info){
        .id = job->id,
        .state = (enum job_state)job->state,
        .queue = queue_at(broker, job),
        .pri = job->pri,
        .created_at = (nsec_t)calendar_to_wall_ms(broker, job->created_ms) * NSEC_PER_MSEC,
        .age_for = calendar_since(broker, job->created_ms),
        .ttr_for = nsec_from_seconds(job->ttr),
        .reserves = job->reserves,
        .attempts = job->attempts,
        .on_fail = (enum on_fail)job->on_fail,
        .on_loss = (enum on_loss)job->on_loss,
        .durable = job->durable,
    };
    if ((job->state == JOB_DELAYED || job->state == JOB_RESERVED) && job->due_at != NSEC_NEVER) {
        nsec_t now = job_due_on_wall(job) ? broker->now.wall : broker->now.mono;

        info->remaining_for = job->due_at > now ? job->due_at - now : 0;
    }
    if (extra) {
        extra_info(extra, info);
        info->data_reported =
            (job->state == JOB_RESERVED || job_expired(job)) && extra->data_reported;
    }
    if (interest) {
        info->watches = interest->count;
        info->numerator = interest->numerator;
        info->denominator = interest->denominator;
    }
}

void broker_info(const struct broker *broker, struct broker_info *info)
{
    *info = (struct broker_info){
        .total_jobs = broker->count.ever.submitted,
        .timeouts = broker->count.ever.timeouts,
        .queues = broker->count.queues,
        .sessions = broker->count.sessions,
        .waiting = broker->count.waiting,
        .producers = broker->count.producers,
        .workers = broker->count.workers,
        .draining = broker->draining,
    };
    memcpy(info->jobs, broker->count.jobs, sizeof info->jobs);
    memcpy(info->ready, broker->count.ready_in, sizeof info->ready);
}

struct instant broker_now(const struct broker *broker)
{
    return broker->now;
}
