/* SPDX-License-Identifier: MIT */

// How a job leaves its holder: done, failed, lost, set aside. Nothing here can fail.

#include "core/outcome.h"

#include "core/cleanup.h"
#include "core/dead.h"
#include "core/decision.h"
#include "core/kept_lease.h"
#include "core/kept_rate.h"
#include "core/match.h"
#include "core/result_private.h"
#include "core/retry.h"
#include "core/gate.h"
#include "core/job_state.h"
#include "core/job_private.h"
#include "core/key.h"
#include "core/observe.h"
#include "core/policy_private.h"
#include "core/queue_private.h"
#include "core/record_private.h"
#include "core/watch.h"

void outcome_ended(struct broker *broker, struct job *job, enum job_event_kind kind,
                   struct blob *data)
{
    uint64_t position = record_append(broker, RECORD_END, job, false);

    kept_lease_over(broker, job, true);
    interest_end(job_interest(job), kind, data, position);
    job_end(broker, job);
}

// A buried job gives up its key and its watchers, who are told that it failed.
static void bury(struct broker *broker, struct job *job, uint32_t pri, const struct last_word *word)
{
    const struct job_place buried = {.state = JOB_BURIED, .pri = pri};
    uint64_t position;

    JOB_COUNT(broker, job, buries);
    COUNT(broker, queue_at(broker, job), buried);
    key_yield(broker, job);
    kept_lease_over(broker, job, true);
    job_move(broker, job, &buried);
    // Should that begin another attempt at an expired job, its watches are told so before those of
    // this one are told of the end: a session may have both.
    match_serve_lost(broker);
    position = record_append(broker, RECORD_BURY, job, false);
    interest_end(job_interest(job), word->kind, word->data, position);
}

void outcome_buried(struct broker *broker, struct job *job, uint32_t pri)
{
    const struct last_word word = {.kind = JOB_EVENT_FAILED};

    if (job->durable) {
        bury(broker, job, pri, &word);
    } else {
        COUNT(broker, queue_at(broker, job), failed);
        loss_log(broker, job, "job_failed", "it was buried, and nothing keeps it");
        outcome_ended(broker, job, JOB_EVENT_FAILED, NULL);
    }
}

static enum dead_reason dead_reason_of(enum loss_cause cause, const struct last_word *word)
{
    if (cause == CAUSE_EXPIRED) {
        return DEAD_EXPIRED;
    }
    if (cause == CAUSE_FAILED) {
        return word->kind == JOB_EVENT_EXCEPTION ? DEAD_EXCEPTION : DEAD_FAILED;
    }
    return DEAD_ATTEMPTS;
}

// The job is not to be tried again.
static void finish(struct broker *broker, struct job *job, enum disposal disposal,
                   enum loss_cause cause, struct blob *exception)
{
    const struct last_word word = {
        .kind = exception ? JOB_EVENT_EXCEPTION : JOB_EVENT_FAILED,
        .data = exception,
    };

    if (cause != CAUSE_EXPIRED) {
        COUNT(broker, queue_at(broker, job), failed);
    }
    result_keep(broker, job, exception ? RESULT_EXCEPTION : RESULT_FAILED, exception);
    if (disposal == DISPOSAL_END) {
        outcome_ended(broker, job, word.kind, word.data);
    } else if (disposal != DISPOSAL_MOVE ||
               !dead_take(broker, job, dead_reason_of(cause, &word), &word)) {
        bury(broker, job, job->pri, &word);
    }
}

static struct decision decide_about(const struct broker *broker, const struct job *job,
                                    enum loss_cause cause)
{
    const struct interest *interest = job_interest(job);
    const struct loss_facts facts = {
        .attempts = job->attempts,
        .max_attempts = job->extra ? job->extra->max_attempts : 0,
        .on_fail = (enum on_fail)job->on_fail,
        .durable = job->durable,
        .dead = job->dead_letter,
        .watched = interest && interest->count > 0,
        .abandoned = job->abandoned,
    };

    return decide(&facts, POLICY_OF(queue_at(broker, job)), cause);
}

void outcome_expired(struct broker *broker, struct job *job)
{
    finish(broker, job, decide_about(broker, job, CAUSE_EXPIRED).disposal, CAUSE_EXPIRED, NULL);
}

// A holder that is only late may still complete the job: what it said so far stays good until
// another takes the job.
static void tell_loss(struct interest *interest, bool late)
{
    if (interest && late) {
        interest_expired(interest);
    } else if (interest) {
        interest_retried(interest);
    }
}

static const char *loss_text(enum loss_cause cause)
{
    switch (cause) {
    case CAUSE_UNDELIVERED:
        return "its worker left before it was sent the job";
    case CAUSE_STOPPED:
        return "this process stops";
    case CAUSE_LEFT:
        return "its worker left or gave it back";
    case CAUSE_TTR:
        return "its time to run was over";
    case CAUSE_LIMIT:
    case CAUSE_LIMIT_FAILS:
        return "the time-out that its worker has set was over (gearman.min_timeout is the least)";
    case CAUSE_FAILED:
    case CAUSE_RELEASED:
    case CAUSE_PUT_BACK:
    case CAUSE_EXPIRED:
        break;
    }
    UNREACHABLE();
}

// The job is as it was before its holder had it, but ready: no attempt is spent, no backoff is due,
// and it keeps its place. `late`: as for try_again(), where it may be delivered yet.
static void return_lost(struct broker *broker, struct job *job, enum loss_cause cause,
                        uint64_t late)
{
    struct job_place place = job_ready_place(job);

    place.last_holder = late;
    if (cause == CAUSE_UNDELIVERED) {
        job_uncount_reserve(job);
    }
    if (cause != CAUSE_UNDELIVERED || late) {
        tell_loss(job_interest(job), late);
    }
    if (cause == CAUSE_STOPPED) {
        kept_lease_leave(job);
    } else {
        kept_lease_over(broker, job, false);
    }
    match_ready(broker, job, &place);
}

// The job is to be tried again, now or after its backoff. `late`: the number of a holder that may
// still complete it until then, if it need not wait; 0 for none.
static void try_again(struct broker *broker, struct job *job, uint64_t late)
{
    const struct policy_spec *policy = POLICY_OF(queue_at(broker, job));
    nsec_t backoff = retry_backoff(broker, job, policy);
    bool kept = retry_kept(policy) && record_has_space(broker, RECORD_SET, job);
    struct job_place place = job_ready_place(job);

    COUNT(broker, queue_at(broker, job), retries);
    place.to_back = job->on_loss == ON_LOSS_BACK;
    kept_lease_over(broker, job, false);
    tell_loss(job_interest(job), late && backoff == 0);
    if (backoff > 0) {
        job_set_delay(broker, job, backoff);
        place.state = JOB_DELAYED;
        place.imposed = true;
        place.due_at = nsec_add(broker->now.mono, backoff);
        job_move(broker, job, &place);
        match_serve_lost(broker);
    } else {
        place.last_holder = late;
        match_ready(broker, job, &place);
    }
    if (kept) {
        record_append(broker, RECORD_SET, job, false);
    }
}

// What is known of the loss beyond what the caller says.
static enum loss_cause cause_of(const struct broker *broker, const struct job *job,
                                enum loss_cause cause)
{
    const struct session *holder = session_holding(broker, job);

    if (job_undelivered(job) || holder->assigned == job || holder->undelivered) {
        return CAUSE_UNDELIVERED;
    }
    if (broker->retired) {
        return CAUSE_STOPPED;
    }
    return cause == CAUSE_LIMIT && job->extra && job->extra->fail_on_limit ? CAUSE_LIMIT_FAILS
                                                                           : cause;
}

static void give_back_rate(struct broker *broker, struct queue *queue)
{
    gate_undo_take(broker, queue);
    kept_rate_given_back(broker, queue);
}

void outcome_lost(struct broker *broker, struct job *job, enum loss_cause cause)
{
    const struct session *holder = session_holding(broker, job);
    struct queue *queue = queue_at(broker, job);
    struct decision decision;
    uint64_t late;
    bool undone;
    bool ends;

    ENSURE(holder);
    late = cause == CAUSE_TTR && holder->assigned != job ? holder->number : 0;
    cause = cause_of(broker, job, cause);
    undone = cause == CAUSE_UNDELIVERED && queue->gate && !job_taken_by_id(job);
    decision = decide_about(broker, job, cause);
    ends = decision.disposal != DISPOSAL_RETURN && decision.disposal != DISPOSAL_RETRY;
    if (decision.spends) {
        retry_spend(job);
    }
    if (cause == CAUSE_TTR || cause == CAUSE_LIMIT || cause == CAUSE_LIMIT_FAILS) {
        JOB_COUNT(broker, job, timeouts);
        COUNT(broker, queue_at(broker, job), timeouts);
    }
    loss_log(broker, job, ends ? "job_failed" : "job_lost", loss_text(cause));
    if (ends) {
        if (undone) {
            give_back_rate(broker, queue);
        }
        finish(broker, job, decision.disposal, cause, NULL);
    } else if (decision.disposal == DISPOSAL_RETURN) {
        return_lost(broker, job, cause, late);
        // Behind that, so that who waits gets the best of them.
        if (undone) {
            give_back_rate(broker, queue);
        }
    } else {
        try_again(broker, job, late);
    }
}

void outcome_failed(struct broker *broker, struct job *job, struct blob *exception)
{
    const char *why = exception ? "its worker told an exception" : "its worker said so";
    struct decision decision = decide_about(broker, job, CAUSE_FAILED);

    if (decision.spends) {
        retry_spend(job);
    }
    if (decision.disposal == DISPOSAL_RETRY) {
        loss_log(broker, job, "job_lost", why);
        try_again(broker, job, 0);
    } else {
        loss_log(broker, job, "job_failed", why);
        finish(broker, job, decision.disposal, CAUSE_FAILED, exception);
    }
}

static void put_back(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for)
{
    struct job_place place = {.state = JOB_READY, .pri = pri};

    COUNT(broker, queue_at(broker, job), retries);
    kept_lease_over(broker, job, true);
    job_set_delay(broker, job, delay_for);
    if (job_interest(job)) {
        // Whoever takes it next starts anew.
        interest_retried(job_interest(job));
    }
    if (delay_for > 0) {
        place.state = JOB_DELAYED;
        place.imposed = true;
        place.due_at = nsec_add(broker->now.mono, delay_for);
        job_move(broker, job, &place);
        match_serve_lost(broker);
    } else {
        match_ready(broker, job, &place);
    }
    record_append(broker, RECORD_RELEASE, job, false);
}

static void release(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for,
                    enum loss_cause cause)
{
    struct decision decision = decide_about(broker, job, cause);

    if (decision.spends) {
        retry_spend(job);
    }
    if (!job->abandoned) {
        JOB_COUNT(broker, job, releases);
        COUNT(broker, queue_at(broker, job), releases);
    }
    if (decision.disposal == DISPOSAL_RETURN) {
        put_back(broker, job, pri, delay_for);
    } else if (decision.disposal == DISPOSAL_RETRY) {
        put_back(broker, job, pri, retry_backoff(broker, job, POLICY_OF(queue_at(broker, job))));
    } else {
        loss_log(broker, job, "job_failed",
                 job->abandoned ? "its worker gave it back, and nobody waits for it"
                                : "its worker gave it back");
        job_set_pri(broker, job, pri);
        finish(broker, job, decision.disposal, cause, NULL);
    }
}

void outcome_released(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for)
{
    release(broker, job, pri, delay_for, CAUSE_PUT_BACK);
}

void outcome_given_back(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for)
{
    release(broker, job, pri, delay_for, delay_for > 0 ? CAUSE_PUT_BACK : CAUSE_RELEASED);
}

void outcome_unwatched(struct watch *watch)
{
    struct interest *interest = watch->interest;
    struct job *job = interest->job;
    bool follows = watch->follows;

    watch_remove(watch);
    if (follows || interest->count > 0 || !job || job->durable) {
        return;
    }
    if (job->state == JOB_RESERVED) {
        job->abandoned = true;
    } else {
        COUNT(interest->broker, queue_at(interest->broker, job), deleted);
        COUNT(interest->broker, queue_at(interest->broker, job), unwanted);
        outcome_ended(interest->broker, job, JOB_EVENT_CANCELLED, NULL);
    }
}
