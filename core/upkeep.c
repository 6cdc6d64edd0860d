/* SPDX-License-Identifier: MIT */

// Looking after jobs that no worker is at: taking them back, kicking them.

#include "core/match.h"
#include "core/outcome.h"
#include "core/job_state.h"
#include "core/session_private.h"
#include "core/charge.h"
#include "core/job_private.h"
#include "core/key.h"
#include "core/observe.h"
#include "core/queue_private.h"
#include "core/record_private.h"

enum status broker_cancel(struct broker *broker, struct session *by, uint64_t id, bool even_held)
{
    struct job *job = broker_job(broker, id);
    enum status status = session_check_job(by, even_held ? MAY_OPERATE : MAY_CANCEL, job);

    ENSURE(!broker->settling);
    broker->store.position = 0;
    if (status != STATUS_OK) {
        return status;
    }
    if (job->state == JOB_RESERVED && !even_held) {
        return STATUS_HELD;
    }
    revoked_note(broker, job);
    COUNT(broker, queue_at(broker, job), deleted);
    outcome_ended(broker, job, JOB_EVENT_CANCELLED, NULL);
    match_serve_lost(broker);
    return STATUS_OK;
}

// Buried or delayed: ready, at its old place among equals, with all its attempts before it.
static enum status kick(struct broker *broker, struct job *job)
{
    const struct job_place ready = job_ready_place(job);
    bool buried = job->state == JOB_BURIED;

    if (!record_has_space(broker, RECORD_KICK, job)) {
        return STATUS_NO_SPACE;
    }
    JOB_COUNT(broker, job, kicks);
    COUNT(broker, queue_at(broker, job), kicks);
    job->attempts = 0;
    if (buried) {
        key_claim(broker, job);
    }
    match_ready(broker, job, &ready);
    record_append(broker, RECORD_KICK, job, buried);
    return STATUS_OK;
}

enum status broker_kick_id(struct broker *broker, struct session *by, uint64_t id)
{
    struct job *job = broker_job(broker, id);
    enum status status = session_check_job(by, MAY_OPERATE, job);

    ENSURE(!broker->settling);
    broker->store.position = 0;
    if (status != STATUS_OK) {
        return status;
    }
    if (job->state != JOB_BURIED && job->state != JOB_DELAYED) {
        return STATUS_NOT_FOUND;
    }
    return kick(broker, job);
}

enum status broker_kick_begin(const struct session *by, const struct queue *queue, uint32_t bound,
                              struct kick *kick)
{
    bool buried = queue->jobs[JOB_BURIED] > 0;
    uint64_t there = queue->jobs[buried ? JOB_BURIED : JOB_DELAYED];

    *kick = (struct kick){
        .left = there < bound ? (uint32_t)there : bound,
        .buried = buried,
    };
    return session_may(by, MAY_OPERATE, queue) ? STATUS_OK : STATUS_FORBIDDEN;
}

enum status broker_kick(struct broker *broker, struct queue *queue, struct kick *kick_of)
{
    ENSURE(!broker->settling);
    broker->store.position = 0;
    for (unsigned budget = BROKER_SLICE; kick_of->left > 0;) {
        const struct job *next =
            kick_of->buried ? queue_peek_buried(queue) : queue_peek_delayed(broker, queue);
        enum status status;

        if (!next) {
            return STATUS_OK;
        }
        if (budget == 0) {
            return STATUS_MORE;
        }
        status = kick(broker, broker_job(broker, next->id));
        if (status != STATUS_OK) {
            return status;
        }
        kick_of->left--;
        kick_of->kicked++;
        charge_pay_unit(broker, &budget);
    }
    return STATUS_OK;
}
