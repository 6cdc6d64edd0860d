/* SPDX-License-Identifier: MIT */

// How a job leaves its holder: done, failed, lost, set aside. Nothing here can fail.

#include "core/matching/outcome.h"

#include "core/matching/cleanup.h"
#include "core/matching/match.h"
#include "core/model/job.h"
#include "core/model/key.h"
#include "core/model/lookup.h"
#include "core/model/loss.h"
#include "core/model/states.h"
#include "core/model/store.h"
#include "core/model/watch.h"

void outcome_ended(struct broker *broker, struct job *job, enum job_event_kind kind,
                   struct blob *data)
{
    uint64_t position = record_append(broker, RECORD_END, job, false);

    interest_end(job_interest(job), kind, data, position);
    job_end(broker, job);
}

// A buried job gives up its key and its watchers, who are told that it failed.
static void bury(struct broker *broker, struct job *job, uint32_t pri, enum job_event_kind kind,
                 struct blob *data)
{
    const struct job_place buried = {.state = JOB_BURIED, .pri = pri};
    uint64_t position;

    JOB_COUNT(broker, job, buries);
    key_yield(broker, job);
    job_move(broker, job, &buried);
    // Should that begin another attempt at an expired job, its watches are told so before those of
    // this one are told of the end: a session may have both.
    match_serve_lost(broker);
    position = record_append(broker, RECORD_BURY, job, false);
    interest_end(job_interest(job), kind, data, position);
}

void outcome_buried(struct broker *broker, struct job *job, uint32_t pri)
{
    if (job->durable) {
        bury(broker, job, pri, JOB_EVENT_FAILED, NULL);
    } else {
        loss_log(broker, job, "job_failed", "it was buried, and nothing keeps it");
        outcome_ended(broker, job, JOB_EVENT_FAILED, NULL);
    }
}

void outcome_failed(struct broker *broker, struct job *job, struct blob *exception)
{
    enum job_event_kind kind = exception ? JOB_EVENT_EXCEPTION : JOB_EVENT_FAILED;

    if (job->on_fail == ON_FAIL_BURY && job->durable) {
        bury(broker, job, job->pri, kind, exception);
    } else {
        outcome_ended(broker, job, kind, exception);
    }
}

static bool attempts_spent(const struct job *job)
{
    return job->extra && job->extra->max_attempts > 0 && job->attempts >= job->extra->max_attempts;
}

// A holder that is only late may still complete the job: what it said so far stays good until
// another takes the job.
static void tell_loss(struct interest *interest, enum loss loss)
{
    if (interest && loss == LOSS_TTR) {
        interest_expired(interest);
    } else if (interest) {
        interest_retried(interest);
    }
}

static const char *loss_text(enum loss loss)
{
    switch (loss) {
    case LOSS_LEFT:
        return "its worker left or gave it back";
    case LOSS_TTR:
        return "its time to run was over";
    case LOSS_LIMIT:
        return "the time-out of its worker was over";
    }
    UNREACHABLE();
}

void outcome_lost(struct broker *broker, struct job *job, enum loss loss)
{
    const struct session *holder = holder_of(broker, job);
    bool fails = loss == LOSS_LIMIT && job->extra && job->extra->fail_on_limit;
    struct job_place ready = job_ready_place(job);

    ENSURE(holder);
    if (job->attempts < JOB_ATTEMPTS_MAX) {
        job->attempts = (job->attempts + 1u) & 0x3ffu;
    }
    if (loss != LOSS_LEFT) {
        JOB_COUNT(broker, job, timeouts);
        broker->count.timeouts++;
    }
    fails = fails || attempts_spent(job);
    loss_log(broker, job, fails || job->abandoned ? "job_failed" : "job_lost", loss_text(loss));
    if (job->abandoned) {
        outcome_ended(broker, job, JOB_EVENT_FAILED, NULL);
    } else if (fails) {
        outcome_failed(broker, job, NULL);
    } else {
        ready.to_back = job->on_loss == ON_LOSS_BACK;
        ready.last_holder = loss == LOSS_TTR ? holder->number : 0;
        tell_loss(job_interest(job), loss);
        match_ready(broker, job, &ready);
    }
}

void outcome_unwatched(struct watch *watch)
{
    struct interest *interest = watch->interest;
    struct job *job = interest->job;

    watch_remove(watch);
    if (interest->count > 0 || !job || job->durable) {
        return;
    }
    if (job->state == JOB_RESERVED) {
        job->abandoned = true;
    } else {
        outcome_ended(interest->broker, job, JOB_EVENT_CANCELLED, NULL);
    }
}
