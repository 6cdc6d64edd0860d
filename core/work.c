/* SPDX-License-Identifier: MIT */

// What the holder of a job says about it.

#include "core/lease.h"
#include "core/match.h"
#include "core/outcome.h"
#include "core/result_private.h"
#include "core/unique.h"
#include "core/job_state.h"
#include "core/job_private.h"
#include "core/observe.h"
#include "core/record_private.h"
#include "core/watch.h"

// The job that the session may still finish, or report about: the one it holds, or one that it held
// when the time to run was over and that nobody has taken since.
static struct job *finishable(const struct session *session, uint64_t id)
{
    struct job *job = broker_job(session->broker, id);

    if (job && (session_holding(session->broker, job) == session ||
                (job_expired(job) && job->last_holder == session->number))) {
        return job;
    }
    return NULL;
}

// What the policy of its queue wants remembered of a job that is done.
static APART void keep(struct broker *broker, const struct job *job, const struct blob *result)
{
    result_keep(broker, job, RESULT_COMPLETE, result);
    unique_keep(broker, job);
}

enum status broker_complete(struct session *session, uint64_t id, struct blob *result)
{
    struct broker *broker = session->broker;
    struct job *job = finishable(session, id);

    ENSURE(!broker->settling);
    broker->store.position = 0;
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    COUNT(broker, queue_at(broker, job), completed);
    observe_finished(broker, job);
    if (queue_at(broker, job)->policy) {
        keep(broker, job, result);
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
    const struct job *job = finishable(session, id);
    const struct interest *interest = job ? job_interest(job) : NULL;

    // One whose last report has been told may always make the next one: its turn is near.
    return interest && interest->untold > 0 && interest_listeners(interest) > 0 &&
           (interest_untold(interest) >= BROKER_SLICE ||
            session->broker->telling.untold >= BROKER_SLICE);
}

// Only where others may see it: nobody can join a job that has nothing out of the ordinary.
static void note_data(const struct job *job, bool told)
{
    if (job->extra) {
        job->extra->data_reported = true;
        job->extra->data_lost = job->extra->data_lost || !told;
    }
}

enum status broker_report(struct session *session, uint64_t id, const struct job_event *event)
{
    struct job *job = finishable(session, id);
    enum status status;

    ENSURE(!session->broker->settling);
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    status = interest_report(session->broker, job, event);
    if (event->kind == JOB_EVENT_DATA) {
        note_data(job, status == STATUS_OK);
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
    const struct job *job = finishable(session, id);

    ENSURE(!session->broker->settling);
    if (job) {
        note_data(job, false);
    }
}
