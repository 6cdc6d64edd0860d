/* SPDX-License-Identifier: MIT */
#include "core/outcome.h"

#include "core/base/memory.h"
#include "core/charge.h"
#include "core/dead_letter_private.h"
#include "core/expiry.h"
#include "core/key.h"
#include "core/lease.h"
#include "core/match.h"
#include "core/observe.h"
#include "core/rate_memo.h"
#include "core/record_private.h"
#include "core/result_private.h"
#include "core/subscription.h"
#include "core/watch.h"

//
// Removal
//

// APART is worth 2 % of a pipelined submission, by tests/budget.
static APART void queue_vanish(struct broker *broker, struct queue *queue)
{
    if (queue->gate) {
        if (gate_retains(broker, queue)) {
            return;
        }
        rate_memo_rested(broker, queue);
    }
    queue_free(broker, queue);
}

void queue_vanish_if_idle(struct broker *broker, struct queue *queue)
{
    if (queue->subscriptions > 0 || queue->holders > 0 || queue->kept || queue_paused(queue) ||
        queue_jobs(queue) > 0 || broker->restoring.active) {
        return;
    }
    queue_vanish(broker, queue);
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

void outcome_ended(struct broker *broker, struct job *job, enum job_event_kind kind,
                   struct blob *data)
{
    uint64_t position = record_append(broker, RECORD_END, job, false);

    lease_memo_end(broker, job, true);
    interest_end(job_interest(job), kind, data, position);
    job_end(broker, job);
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

//
// Dead letters: jobs that could not be done, and that the policy of their queue takes to another
// queue
//

// The last event that the watches of a job are told.
struct final_event {
    enum job_event_kind kind;
    struct blob *data;
};

// The name of the dead queue, in `to`; empty if the policy has none, or if the name is too long.
static struct slice dead_queue_name(const struct queue *from, char to[QUEUE_NAME_MAX])
{
    const struct slice placeholder = SLICE("{queue}");
    const struct policy_spec *policy = POLICY_OF(from);
    struct slice rest = policy ? policy->dead_queue : slice_of(NULL, 0);
    size_t len = 0;

    while (rest.len > 0) {
        bool own =
            rest.len >= placeholder.len && memcmp(rest.ptr, placeholder.ptr, placeholder.len) == 0;
        struct slice part = own ? queue_name(from) : slice_of(rest.ptr, 1);
        size_t used = own ? placeholder.len : 1;

        if (part.len > QUEUE_NAME_MAX - len) {
            return slice_of(NULL, 0);
        }
        memcpy(to + len, part.ptr, part.len);
        len += part.len;
        rest = slice_of(rest.ptr + used, rest.len - used);
    }
    return slice_of(to, len);
}

// NULL if there is no dead queue, if it is the queue itself, or if it cannot be made.
static struct queue *dead_queue_hold(struct broker *broker, const struct queue *from)
{
    char bytes[QUEUE_NAME_MAX];
    struct slice name = dead_queue_name(from, bytes);
    struct queue *to = NULL;

    if (name.len == 0 || slice_equal(name, queue_name(from)) ||
        (memory_is_short() && !broker_queue_find(broker, name)) ||
        queue_hold(broker, name, &to) != STATUS_OK) {
        return NULL;
    }
    return to;
}

// The interest is ended before another session may take the job, which would begin an attempt.
static void dead_letter_move(struct broker *broker, struct job *job, struct queue *to,
                             size_t was_len, const struct final_event *event)
{
    const struct job_place ready = job_ready_place(job);
    struct queue *from = queue_at(broker, job);
    uint64_t position;

    COUNT(broker, from, dead);
    lease_memo_end(broker, job, true);
    key_move(broker, job, to);
    job_move(broker, job, &ready);
    job_transfer(broker, job, to);
    position = record_move_append(broker, job, from, was_len);
    interest_end(job_interest(job), event->kind, event->data, position);
    match_serve_lost(broker);
    if (job->state == JOB_READY) {
        match_moved(broker, job);
    }
    queue_vanish_if_idle(broker, from);
}

// Takes a job, in whatever state, to the dead queue of its queue's policy: ready, at its place
// among equals, with the attempts that it has spent. False, and nothing has changed, if the job is
// not durable or is a dead letter already, if there is no such queue or it would be one too many,
// or if memory or the store has no room.
static bool dead_letter_take(struct broker *broker, struct job *job, enum dead_reason why,
                             const struct final_event *event)
{
    struct queue *from = queue_at(broker, job);
    const struct dead_letter letter = {
        .queue = queue_name(from),
        .why = why,
        .attempts = job->attempts,
        .at_ms = broker->now.wall > 0 ? (uint64_t)(broker->now.wall / NSEC_PER_MSEC) : 0,
    };
    size_t was_len = job_variable_len(broker, job);
    struct queue *to = job->durable && !job->dead_letter ? dead_queue_hold(broker, from) : NULL;
    bool moves;

    if (!to) {
        return false;
    }
    moves =
        record_move_has_space(broker, job, to, &letter) && dead_letter_set(broker, job, &letter);
    if (moves) {
        dead_letter_move(broker, job, to, was_len, event);
    }
    to->holders--;
    queue_vanish_if_idle(broker, to);
    return moves;
}

//
// Jobs that are not tried again
//

// A buried job gives up its key and its watches, which are told that it failed.
static void outcome_bury(struct broker *broker, struct job *job, uint32_t pri,
                         const struct final_event *event)
{
    const struct job_place buried = {.state = JOB_BURIED, .pri = pri};
    uint64_t position;

    JOB_COUNT(broker, job, buries);
    COUNT(broker, queue_at(broker, job), buried);
    key_yield(broker, job);
    lease_memo_end(broker, job, true);
    job_move(broker, job, &buried);
    // This may begin another attempt at an expired job. Its watches are told so before the watches
    // of this job are told of the end: a session may have both.
    match_serve_lost(broker);
    position = record_append(broker, RECORD_BURY, job, false);
    interest_end(job_interest(job), event->kind, event->data, position);
}

void outcome_buried(struct broker *broker, struct job *job, uint32_t pri)
{
    const struct final_event event = {.kind = JOB_EVENT_FAILED};

    if (job->durable) {
        outcome_bury(broker, job, pri, &event);
    } else {
        COUNT(broker, queue_at(broker, job), failed);
        loss_log(broker, job, "job_failed", "it was buried, and it is not durable");
        outcome_ended(broker, job, JOB_EVENT_FAILED, NULL);
    }
}

static enum dead_reason outcome_dead_why(enum loss_cause cause, const struct final_event *event)
{
    if (cause == CAUSE_EXPIRED) {
        return DEAD_EXPIRED;
    }
    if (cause == CAUSE_FAILED) {
        return event->kind == JOB_EVENT_EXCEPTION ? DEAD_EXCEPTION : DEAD_FAILED;
    }
    return DEAD_ATTEMPTS;
}

static void outcome_finish(struct broker *broker, struct job *job, enum disposal disposal,
                           enum loss_cause cause, struct blob *exception)
{
    const struct final_event event = {
        .kind = exception ? JOB_EVENT_EXCEPTION : JOB_EVENT_FAILED,
        .data = exception,
    };

    if (cause != CAUSE_EXPIRED) {
        COUNT(broker, queue_at(broker, job), failed);
    }
    result_keep(broker, job, exception ? RESULT_EXCEPTION : RESULT_FAILED, exception);
    if (disposal == DISPOSAL_END) {
        outcome_ended(broker, job, event.kind, event.data);
    } else if (disposal != DISPOSAL_MOVE ||
               !dead_letter_take(broker, job, outcome_dead_why(cause, &event), &event)) {
        outcome_bury(broker, job, job->pri, &event);
    }
}

static struct decision outcome_decide(const struct broker *broker, const struct job *job,
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

//
// Jobs that are tried again
//

static void retry_spend(struct job *job)
{
    if (job->attempts < JOB_ATTEMPTS_MAX) {
        job->attempts = (job->attempts + 1u) & 0x3ffu;
    }
}

// No backoff is longer than the longest delay that a submitter may ask for.
#define RETRY_BACKOFF_MAX nsec_from_seconds(UINT32_MAX)

// The backoff without its random part.
static nsec_t retry_base_backoff(uint32_t attempts, const struct policy_spec *policy)
{
    nsec_t most = policy->backoff_max_for > 0 && policy->backoff_max_for < RETRY_BACKOFF_MAX
                      ? policy->backoff_max_for
                      : RETRY_BACKOFF_MAX;
    nsec_t backoff = policy->backoff_min_for < most ? policy->backoff_min_for : most;

    switch (policy->backoff) {
    case BACKOFF_NONE:
        return 0;
    case BACKOFF_FIXED:
        return backoff;
    case BACKOFF_EXPONENTIAL:
        // At most 63 doublings lead to the longest backoff.
        for (uint32_t i = 1; i < attempts && backoff > 0 && backoff < most; i++) {
            backoff = backoff <= most / 2 ? 2 * backoff : most;
        }
        return backoff;
    }
    UNREACHABLE();
}

// A random part of the duration that no client can predict, but the same for the same attempt.
static nsec_t retry_random_part(const struct broker *broker, const struct job *job,
                                nsec_t whole_for)
{
    const uint64_t seed[] = {job->id, job->attempts};
    uint64_t dice = siphash(&broker->key, (const char *)seed, sizeof seed) >> 32;
    uint64_t whole = (uint64_t)whole_for;

    // whole * dice / 2^32, in two steps that do not overflow.
    return (nsec_t)((whole >> 32) * dice + (((whole & UINT32_MAX) * dice) >> 32));
}

// How long the job waits before its next attempt; 0: not at all.
static nsec_t retry_backoff(const struct broker *broker, const struct job *job,
                            const struct policy_spec *policy)
{
    const nsec_t parts = POLICY_JITTER_WHOLE;
    nsec_t backoff = policy ? retry_base_backoff(job->attempts, policy) : 0;
    nsec_t jitter;

    if (backoff == 0 || policy->backoff_jitter == 0) {
        return backoff;
    }
    jitter =
        backoff / parts * policy->backoff_jitter + backoff % parts * policy->backoff_jitter / parts;
    return backoff - retry_random_part(broker, job, jitter);
}

// A holder that is only late may still complete the job: the data that it has reported stays valid
// until another session takes the job.
static void outcome_tell_loss(struct interest *interest, bool late)
{
    if (interest && late) {
        interest_expired(interest);
    } else if (interest) {
        interest_retried(interest);
    }
}

// Puts the job, which leaves its holder, at that ready place, or has it wait for `delay_for` first.
static void outcome_requeue(struct broker *broker, struct job *job, struct job_place *place,
                            nsec_t delay_for)
{
    if (delay_for <= 0) {
        match_ready(broker, job, place);
        return;
    }
    place->state = JOB_DELAYED;
    place->imposed = true;
    place->due_at = nsec_add(broker->now.mono, delay_for);
    job_move(broker, job, place);
    match_serve_lost(broker);
}

// The job is as it was before its holder had it, but ready: no attempt is spent, no backoff is due,
// and it keeps its place. `late`: as for outcome_retry(), if the job may still be delivered.
static void outcome_return(struct broker *broker, struct job *job, enum loss_cause cause,
                           uint64_t late)
{
    struct job_place place = job_ready_place(job);

    place.last_holder = late;
    if (cause == CAUSE_UNDELIVERED) {
        job_uncount_reserve(job);
    }
    if (cause != CAUSE_UNDELIVERED || late) {
        outcome_tell_loss(job_interest(job), late);
    }
    if (cause == CAUSE_STOPPED) {
        lease_memo_leave(job);
    } else {
        lease_memo_end(broker, job, false);
    }
    match_ready(broker, job, &place);
}

// The job is tried again, now or after its backoff. `late`: the number of a session that may still
// complete the job until then, if there is no backoff; 0 for none.
static void outcome_retry(struct broker *broker, struct job *job, uint64_t late)
{
    const struct policy_spec *policy = POLICY_OF(queue_at(broker, job));
    nsec_t backoff = retry_backoff(broker, job, policy);
    bool recorded = decision_has_retries(policy) && record_has_space(broker, RECORD_SET, job);
    struct job_place place = job_ready_place(job);

    COUNT(broker, queue_at(broker, job), retries);
    place.to_back = job->on_loss == ON_LOSS_BACK;
    lease_memo_end(broker, job, false);
    outcome_tell_loss(job_interest(job), late && backoff == 0);
    if (backoff > 0) {
        job_set_delay(broker, job, backoff);
    } else {
        place.last_holder = late;
    }
    outcome_requeue(broker, job, &place, backoff);
    if (recorded) {
        record_append(broker, RECORD_SET, job, false);
    }
}

//
// Outcomes of a lease
//

static const char *outcome_loss_text(enum loss_cause cause)
{
    switch (cause) {
    case CAUSE_UNDELIVERED:
        return "its worker left before the job was sent to it";
    case CAUSE_STOPPED:
        return "this process stops";
    case CAUSE_LEFT:
        return "its worker left or gave it back";
    case CAUSE_TTR:
        return "its time to run was over";
    case CAUSE_LIMIT:
    case CAUSE_LIMIT_FAILS:
        return "the timeout that its worker has set was over (its minimum is gearman.min_timeout)";
    case CAUSE_FAILED:
    case CAUSE_RELEASED:
    case CAUSE_PUT_BACK:
    case CAUSE_EXPIRED:
        break;
    }
    UNREACHABLE();
}

// The cause of the loss, with the facts that the caller does not know.
static enum loss_cause outcome_loss_cause(const struct broker *broker, const struct job *job,
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

static void outcome_give_rate_back(struct broker *broker, struct queue *queue)
{
    gate_undo_take(broker, queue);
    rate_memo_given_back(broker, queue);
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
    cause = outcome_loss_cause(broker, job, cause);
    undone = cause == CAUSE_UNDELIVERED && queue->gate && !job_taken_by_id(job);
    decision = outcome_decide(broker, job, cause);
    ends = decision.disposal != DISPOSAL_RETURN && decision.disposal != DISPOSAL_RETRY;
    if (decision.spends) {
        retry_spend(job);
    }
    if (cause == CAUSE_TTR || cause == CAUSE_LIMIT || cause == CAUSE_LIMIT_FAILS) {
        JOB_COUNT(broker, job, timeouts);
        COUNT(broker, queue_at(broker, job), timeouts);
    }
    loss_log(broker, job, ends ? "job_failed" : "job_lost", outcome_loss_text(cause));
    if (ends) {
        if (undone) {
            outcome_give_rate_back(broker, queue);
        }
        outcome_finish(broker, job, decision.disposal, cause, NULL);
    } else if (decision.disposal == DISPOSAL_RETURN) {
        outcome_return(broker, job, cause, late);
        // After that, so that a session that waits gets the best job of both.
        if (undone) {
            outcome_give_rate_back(broker, queue);
        }
    } else {
        outcome_retry(broker, job, late);
    }
}

void outcome_failed(struct broker *broker, struct job *job, struct blob *exception)
{
    const char *why =
        exception ? "its worker reported an exception" : "its worker reported a failure";
    struct decision decision = outcome_decide(broker, job, CAUSE_FAILED);

    if (decision.spends) {
        retry_spend(job);
    }
    if (decision.disposal == DISPOSAL_RETRY) {
        loss_log(broker, job, "job_lost", why);
        outcome_retry(broker, job, 0);
    } else {
        loss_log(broker, job, "job_failed", why);
        outcome_finish(broker, job, decision.disposal, CAUSE_FAILED, exception);
    }
}

static void outcome_put_back(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for)
{
    struct job_place place = {.state = JOB_READY, .pri = pri};

    COUNT(broker, queue_at(broker, job), retries);
    lease_memo_end(broker, job, true);
    job_set_delay(broker, job, delay_for);
    if (job_interest(job)) {
        interest_retried(job_interest(job));
    }
    outcome_requeue(broker, job, &place, delay_for);
    record_append(broker, RECORD_RELEASE, job, false);
}

static void outcome_release(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for,
                            enum loss_cause cause)
{
    struct decision decision = outcome_decide(broker, job, cause);

    if (decision.spends) {
        retry_spend(job);
    }
    if (!job->abandoned) {
        JOB_COUNT(broker, job, releases);
        COUNT(broker, queue_at(broker, job), releases);
    }
    if (decision.disposal == DISPOSAL_RETURN) {
        outcome_put_back(broker, job, pri, delay_for);
    } else if (decision.disposal == DISPOSAL_RETRY) {
        outcome_put_back(broker, job, pri,
                         retry_backoff(broker, job, POLICY_OF(queue_at(broker, job))));
    } else {
        loss_log(broker, job, "job_failed",
                 job->abandoned ? "its worker gave it back, and no client waits for it"
                                : "its worker gave it back");
        job_set_pri(broker, job, pri);
        outcome_finish(broker, job, decision.disposal, cause, NULL);
    }
}

void outcome_released(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for)
{
    outcome_release(broker, job, pri, delay_for, CAUSE_PUT_BACK);
}

void outcome_given_back(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for)
{
    outcome_release(broker, job, pri, delay_for, delay_for > 0 ? CAUSE_PUT_BACK : CAUSE_RELEASED);
}

//
// Expiry
//

// The watches of the job are told that it failed, but it is not counted as failed.
static void expire_job(struct broker *broker, struct job *job)
{
    COUNT(broker, queue_at(broker, job), expired);
    loss_log(broker, job, "job_expired", "it was ready for too long");
    outcome_finish(broker, job, outcome_decide(broker, job, CAUSE_EXPIRED).disposal, CAUSE_EXPIRED,
                   NULL);
    match_serve_lost(broker);
}

bool expire_if_due(struct broker *broker, struct job *job)
{
    const struct queue *queue = queue_at(broker, job);

    if (job->state != JOB_READY || !queue_expires(queue) || !expiry_is_over(broker, queue, job)) {
        return false;
    }
    expire_job(broker, job);
    return true;
}

void expire_step(struct broker *broker, struct timer *over)
{
    struct gate *gate = container_of(over, struct gate, over);
    struct queue *queue = gate->queue;
    struct job *next = expiry_next(broker, queue);

    queue->holders++;
    if (next) {
        expire_job(broker, next);
    } else if (gate->indexes_at <= broker->now.mono) {
        expiry_index(broker, queue, queue_ready_after(queue, gate->indexed_pri, gate->indexed_seq));
    }
    expiry_review(broker, queue);
    queue->holders--;
    queue_vanish_if_idle(broker, queue);
}
