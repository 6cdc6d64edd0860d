/* SPDX-License-Identifier: MIT */

// What a worker does: it takes a job, or waits for one, and reports its outcome.

#include "core/work.h"

#include "core/charge.h"
#include "core/key.h"
#include "core/lease.h"
#include "core/match.h"
#include "core/observe.h"
#include "core/outcome.h"
#include "core/record_private.h"
#include "core/result_private.h"
#include "core/watch.h"

//
// Taking
//

static inline enum status take_job(struct session *session, struct subscription *by,
                                   struct job *best, const struct job **job)
{
    if (!best) {
        return session_is_barred(session) ? STATUS_FORBIDDEN : STATUS_EMPTY;
    }
    if (by->limit_ms > 0 && !job_extra(session->broker, best)) {
        return STATUS_NO_MEMORY;
    }
    match_take(by, best);
    *job = best;
    return STATUS_OK;
}

// Takes a job where jobs may expire, or where queues have weights. While the best job has expired,
// it is removed, at most a slice of them; then the queue is closed until some ticks later. A
// removed job may come to another queue of the session, its dead queue.
static APART enum status take_unexpired(struct session *session, const struct job **job)
{
    struct broker *broker = session->broker;
    struct subscription *by = NULL;
    struct job *best = choice_best_or_expired(session, &by);
    unsigned budget = BROKER_SLICE;
    enum status status;

    while (best && budget > 0 && expire_if_due(broker, best)) {
        charge_pay_unit(broker, &budget);
        best = choice_best_or_expired(session, &by);
    }
    if (budget == 0) {
        best = choice_best(session, &by);
    }
    status = take_job(session, by, best, job);
    if (status == STATUS_OK) {
        choice_taken(by, best);
    }
    return status;
}

enum status broker_take(struct session *session, const struct job **job)
{
    const struct broker *broker = session->broker;
    struct subscription *by = NULL;
    struct job *best;

    session_works(session);
    if ((broker->gates.expiring | broker->gates.weights) != 0) {
        return take_unexpired(session, job);
    }
    best = choice_best(session, &by);
    return take_job(session, by, best, job);
}

enum status broker_take_id(struct session *session, uint64_t id, const struct job **job)
{
    struct broker *broker = session->broker;
    struct job *found = broker_job(broker, id);
    enum status status = session_check_job(session, MAY_WORK, found);
    bool buried;

    broker->store.position = 0;
    if (status != STATUS_OK) {
        return status;
    }
    session_works(session);
    if (!found || found->state == JOB_RESERVED || expire_if_due(broker, found)) {
        return STATUS_NOT_FOUND;
    }
    buried = found->state == JOB_BURIED;
    if (buried) {
        if (!record_has_space(broker, RECORD_TAKE, found)) {
            return STATUS_NO_SPACE;
        }
        key_claim(broker, found);
    }
    lease_begin(session, found, NULL);
    if (buried) {
        record_append(broker, RECORD_TAKE, found, true);
    }
    *job = found;
    return STATUS_OK;
}

//
// Waiting
//

enum status broker_wait(struct session *session, nsec_t until, nsec_t margin_for)
{
    nsec_t now = session->broker->now.mono;

    ENSURE(session->wait_state != WAITING_FOR_JOB && !session->assigned &&
           !session->broker->settling);
    if (session_is_barred(session)) {
        return STATUS_FORBIDDEN;
    }
    session_works(session);
    match_pass_nudge_on(session, NULL);
    session->margin_ms = margin_for < 0 ? MARGIN_NONE : nsec_to_msec(margin_for);
    if (session_lease_ends_soon(session)) {
        return STATUS_LEASE_SOON;
    }
    if (until <= now) {
        return STATUS_TIMED_OUT;
    }
    if (!session_make_spare(session)) {
        return STATUS_NO_MEMORY;
    }
    session_stop_waiting(session);
    session->until = until;
    session_begin_waiting(session, WAITING_FOR_JOB);
    return STATUS_OK;
}

bool broker_await_nudge(struct session *session)
{
    struct subscription *by;

    ENSURE(session->wait_state != WAITING_FOR_JOB && !session->assigned &&
           !session->broker->settling);
    session_works(session);
    session_stop_waiting(session);
    if (choice_best(session, &by)) {
        session->nudged = true;
        session_notify(session);
        return false;
    }
    session_begin_waiting(session, WAITING_FOR_NUDGE);
    return true;
}

bool broker_unwait(struct session *session)
{
    ENSURE(!session->broker->settling);
    session_stop_waiting(session);
    session->nudged = false;
    session->waited_enough = false;
    if (session->assigned) {
        // If the job goes before the session is told of it, the session does not wait again.
        session->until = session->broker->now.mono;
        return false;
    }
    if (!session->emptied) {
        list_remove(&session->notice);
    }
    return true;
}

//
// Reporting
//

// The job that the session may finish, or report about: one that it holds, or one whose time to run
// was over while the session held it, and that no session has taken since.
static struct job *work_finishable(const struct session *session, uint64_t id)
{
    struct job *job = broker_job(session->broker, id);

    if (job && (session_holding(session->broker, job) == session ||
                (job_expired(job) && job->last_holder == session->number))) {
        return job;
    }
    return NULL;
}

enum status broker_complete(struct session *session, uint64_t id, struct blob *result)
{
    struct broker *broker = session->broker;
    struct job *job = work_finishable(session, id);

    ENSURE(!broker->settling);
    broker->store.position = 0;
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    COUNT(broker, queue_at(broker, job), completed);
    observe_finished(broker, job);
    if (queue_at(broker, job)->policy) {
        result_keep(broker, job, RESULT_COMPLETE, result);
        unique_keep(broker, job);
    }
    if (job->extra && job->extra->data_lost) {
        loss_log(broker, job, "job_failed", "a part of its result was not kept");
        outcome_ended(broker, job, JOB_EVENT_FAILED, NULL);
    } else {
        outcome_ended(broker, job, JOB_EVENT_COMPLETE, result);
    }
    match_serve_lost(broker);
    return STATUS_OK;
}

enum status broker_fail(struct session *session, uint64_t id, struct blob *exception)
{
    struct job *job = broker_held_job(session, id);

    ENSURE(!session->broker->settling);
    session->broker->store.position = 0;
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    observe_finished(session->broker, job);
    outcome_failed(session->broker, job, exception);
    match_serve_lost(session->broker);
    return STATUS_OK;
}

enum status broker_release(struct session *session, uint64_t id, uint32_t pri, nsec_t delay_for)
{
    struct broker *broker = session->broker;
    struct job *job = broker_held_job(session, id);

    ENSURE(!broker->settling);
    broker->store.position = 0;
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    if (!record_has_space(broker, RECORD_RELEASE, job)) {
        return STATUS_NO_SPACE;
    }
    outcome_given_back(broker, job, pri, delay_for);
    match_serve_lost(broker);
    return STATUS_OK;
}

enum status broker_bury(struct session *session, uint64_t id, uint32_t pri)
{
    struct job *job = broker_held_job(session, id);

    ENSURE(!session->broker->settling);
    session->broker->store.position = 0;
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    observe_finished(session->broker, job);
    outcome_buried(session->broker, job, pri);
    match_serve_lost(session->broker);
    return STATUS_OK;
}

enum status broker_touch(struct session *session, uint64_t id)
{
    struct job *job = broker_held_job(session, id);

    ENSURE(!session->broker->settling);
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    lease_renew(session, job);
    return STATUS_OK;
}

enum status broker_limit(struct session *session, uint64_t id, nsec_t limit_for)
{
    struct broker *broker = session->broker;
    struct job *job = broker_held_job(session, id);

    ENSURE(!broker->settling);
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    if (limit_for > 0 && !job_extra(broker, job)) {
        return STATUS_NO_MEMORY;
    }
    if (broker->observing) {
        observe_renewal(broker, job);
    }
    if (job->extra) {
        job->extra->fail_on_limit = job->extra->limit_at && job->extra->fail_on_limit;
        job->extra->limit_at = limit_for > 0 ? nsec_add(broker->now.mono, limit_for) : 0;
    }
    job->renewed = true; // its end, which the limit may be, does not tell when it began
    lease_renew(session, job);
    return STATUS_OK;
}

bool broker_report_waits(const struct session *session, uint64_t id)
{
    const struct job *job = work_finishable(session, id);
    const struct interest *interest = job ? job_interest(job) : NULL;

    // Once the last report has been told, the next one may always be made.
    return interest && interest->untold > 0 && interest_listeners(interest) > 0 &&
           (interest_untold(interest) >= BROKER_SLICE ||
            session->broker->telling.untold >= BROKER_SLICE);
}

// Notes in the job's extra part that data was reported. No client can join a job without that part.
static void work_note_data(const struct job *job, bool told)
{
    if (job->extra) {
        job->extra->data_reported = true;
        job->extra->data_lost = job->extra->data_lost || !told;
    }
}

enum status broker_report(struct session *session, uint64_t id, const struct job_event *event)
{
    struct job *job = work_finishable(session, id);
    enum status status;

    ENSURE(!session->broker->settling);
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    status = interest_report(session->broker, job, event);
    if (event->kind == JOB_EVENT_DATA) {
        work_note_data(job, status == STATUS_OK);
        if (status == STATUS_OK) {
            status = result_gather(session->broker, job, event->data);
        }
    }
    if (status == STATUS_OK && job->state == JOB_RESERVED) {
        lease_renew(session, job);
    }
    return status;
}

void broker_data_lost(struct session *session, uint64_t id)
{
    const struct job *job = work_finishable(session, id);

    ENSURE(!session->broker->settling);
    if (job) {
        work_note_data(job, false);
    }
}
