/* SPDX-License-Identifier: MIT */

// How a job leaves its holder: done, failed, lost, set aside. Nothing here can fail.

#include "core/matching/outcome.h"

#include "core/matching/cleanup.h"
#include "core/matching/dead.h"
#include "core/matching/match.h"
#include "core/matching/result.h"
#include "core/matching/retry.h"
#include "core/model/job.h"
#include "core/model/key.h"
#include "core/model/lookup.h"
#include "core/model/loss.h"
#include "core/model/observe.h"
#include "core/model/policy.h"
#include "core/model/queue.h"
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
static void bury(struct broker *broker, struct job *job, uint32_t pri, const struct last_word *word)
{
    const struct job_place buried = {.state = JOB_BURIED, .pri = pri};
    uint64_t position;

    JOB_COUNT(broker, job, buries);
    COUNT(broker, queue_at(broker, job), buried);
    key_yield(broker, job);
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

void outcome_dead(struct broker *broker, struct job *job, enum dead_why why)
{
    const struct last_word word = {.kind = JOB_EVENT_FAILED};

    result_keep(broker, job, RESULT_FAILED, NULL);
    if (!job->durable) {
        outcome_ended(broker, job, word.kind, word.data);
    } else if (!dead_take(broker, job, why, &word)) {
        bury(broker, job, job->pri, &word);
    }
}

// What becomes of a job that is not to be tried again: its policy says so, or else its contract.
static void exhausted(struct broker *broker, struct job *job, enum dead_why why,
                      struct blob *exception)
{
    const struct policy_spec *policy = POLICY_OF(queue_at(broker, job));
    enum on_exhausted then = policy ? policy->on_exhausted : ON_EXHAUSTED_CONTRACT;
    bool keeps =
        then == ON_EXHAUSTED_CONTRACT ? job->on_fail == ON_FAIL_BURY : then != ON_EXHAUSTED_DROP;
    const struct last_word word = {
        .kind = exception ? JOB_EVENT_EXCEPTION : JOB_EVENT_FAILED,
        .data = exception,
    };

    COUNT(broker, queue_at(broker, job), failed);
    result_keep(broker, job, exception ? RESULT_EXCEPTION : RESULT_FAILED, exception);
    if (!keeps || !job->durable) {
        outcome_ended(broker, job, word.kind, word.data);
    } else if (then != ON_EXHAUSTED_MOVE || !dead_take(broker, job, why, &word)) {
        bury(broker, job, job->pri, &word);
    }
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

// When the process ends, its workers lose their jobs, and nobody is to blame: no attempt is spent,
// and no policy holds, so that a restart finds what it would after a crash.
static const struct policy_spec *policy_at_loss(const struct broker *broker, const struct job *job)
{
    return broker->retired ? NULL : POLICY_OF(queue_at(broker, job));
}

// The job is to be tried again, now or after its backoff. `late`: the number of a holder that may
// still complete it until then, if it need not wait; 0 for none.
static void try_again(struct broker *broker, struct job *job, uint64_t late)
{
    const struct policy_spec *policy = policy_at_loss(broker, job);
    nsec_t backoff = retry_backoff(broker, job, policy);
    bool kept = retry_kept(policy) && record_has_space(broker, RECORD_SET, job);
    struct job_place place = job_ready_place(job);

    COUNT(broker, queue_at(broker, job), retries);
    place.to_back = job->on_loss == ON_LOSS_BACK;
    tell_loss(job_interest(job), late && backoff == 0);
    if (backoff > 0) {
        job_set_delay(broker, job, backoff);
        place.state = JOB_DELAYED;
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

void outcome_lost(struct broker *broker, struct job *job, enum loss loss)
{
    const struct session *holder = holder_of(broker, job);
    const struct policy_spec *policy = policy_at_loss(broker, job);
    bool fails = loss == LOSS_LIMIT && job->extra && job->extra->fail_on_limit;

    ENSURE(holder);
    if (!broker->retired) {
        retry_spend(job);
    }
    if (loss != LOSS_LEFT) {
        JOB_COUNT(broker, job, timeouts);
        COUNT(broker, queue_at(broker, job), timeouts);
    }
    fails = retry_over(job, policy) || (fails && !retry_despite_word(job, policy));
    loss_log(broker, job, fails || job->abandoned ? "job_failed" : "job_lost", loss_text(loss));
    if (job->abandoned) {
        COUNT(broker, queue_at(broker, job), failed);
        outcome_ended(broker, job, JOB_EVENT_FAILED, NULL);
    } else if (fails) {
        exhausted(broker, job, DEAD_ATTEMPTS, NULL);
    } else {
        try_again(broker, job, loss == LOSS_TTR ? holder->number : 0);
    }
}

void outcome_failed(struct broker *broker, struct job *job, struct blob *exception)
{
    const char *why = exception ? "its worker told an exception" : "its worker said so";
    const struct policy_spec *policy = POLICY_OF(queue_at(broker, job));

    if (retry_kept(policy)) {
        retry_spend(job);
    }
    if (retry_despite_word(job, policy)) {
        loss_log(broker, job, "job_lost", why);
        try_again(broker, job, 0);
    } else {
        loss_log(broker, job, "job_failed", why);
        exhausted(broker, job, exception ? DEAD_EXCEPTION : DEAD_FAILED, exception);
    }
}

void outcome_released(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for)
{
    struct job_place place = {.state = JOB_READY, .pri = pri};

    if (job->abandoned) {
        loss_log(broker, job, "job_failed", "its worker gave it back, and nobody waits for it");
        COUNT(broker, queue_at(broker, job), failed);
        outcome_ended(broker, job, JOB_EVENT_FAILED, NULL);
        return;
    }
    JOB_COUNT(broker, job, releases);
    COUNT(broker, queue_at(broker, job), releases);
    COUNT(broker, queue_at(broker, job), retries);
    job_set_delay(broker, job, delay_for);
    if (job_interest(job)) {
        // Whoever takes it next starts anew.
        interest_retried(job_interest(job));
    }
    if (delay_for > 0) {
        place.state = JOB_DELAYED;
        place.due_at = nsec_add(broker->now.mono, delay_for);
        job_move(broker, job, &place);
        match_serve_lost(broker);
    } else {
        match_ready(broker, job, &place);
    }
    record_append(broker, RECORD_RELEASE, job, false);
}

void outcome_given_back(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for)
{
    const struct policy_spec *policy = POLICY_OF(queue_at(broker, job));
    bool spends = policy && policy->count_releases && delay_for == 0 && !job->abandoned;

    if (spends) {
        retry_spend(job);
    }
    if (spends && retry_over(job, policy)) {
        loss_log(broker, job, "job_failed", "its worker gave it back");
        JOB_COUNT(broker, job, releases);
        COUNT(broker, queue_at(broker, job), releases);
        job_set_pri(broker, job, pri);
        exhausted(broker, job, DEAD_ATTEMPTS, NULL);
    } else {
        outcome_released(broker, job, pri, spends ? retry_backoff(broker, job, policy) : delay_for);
    }
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
