/* SPDX-License-Identifier: MIT */

// What the holder of a job says about it.

#include "core/matching/lease.h"
#include "core/matching/match.h"
#include "core/matching/outcome.h"
#include "core/model/job.h"
#include "core/model/lookup.h"
#include "core/model/loss.h"
#include "core/model/states.h"
#include "core/model/store.h"
#include "core/model/watch.h"

// The job that the session may still finish, or report about: the one it holds, or one that it held
// when the time to run was over and that nobody has taken since.
static struct job *finishable(const struct session *session, uint64_t id)
{
    struct job *job = broker_job(session->broker, id);

    if (job && (holder_of(session->broker, job) == session ||
                (job_expired(job) && job->last_holder == session->number))) {
        return job;
    }
    return NULL;
}

enum status broker_complete(struct session *session, uint64_t id, struct blob *result)
{
    struct job *job = finishable(session, id);

    ENSURE(!session->broker->settling);
    session->broker->store.position = 0;
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    queue_at(session->broker, job)->ended++;
    if (job->extra && job->extra->data_lost) {
        loss_log(session->broker, job, "job_failed", "a part of its result was not kept");
        outcome_ended(session->broker, job, JOB_EVENT_FAILED, NULL);
    } else {
        outcome_ended(session->broker, job, JOB_EVENT_COMPLETE, result);
    }
    match_serve_lost(session->broker);
    return STATUS_OK;
}

enum status broker_fail(struct session *session, uint64_t id, struct blob *exception)
{
    struct job *job = broker_held(session, id);

    ENSURE(!session->broker->settling);
    session->broker->store.position = 0;
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    loss_log(session->broker, job, "job_failed",
             exception ? "its worker told an exception" : "its worker said so");
    outcome_failed(session->broker, job, exception);
    match_serve_lost(session->broker);
    return STATUS_OK;
}

enum status broker_release(struct session *session, uint64_t id, uint32_t pri, nsec_t delay_for)
{
    struct broker *broker = session->broker;
    struct job *job = broker_held(session, id);
    struct job_place place = {.state = JOB_READY, .pri = pri};

    ENSURE(!broker->settling);
    broker->store.position = 0;
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    if (job->abandoned) {
        loss_log(broker, job, "job_failed", "its worker gave it back, and nobody waits for it");
        outcome_ended(broker, job, JOB_EVENT_FAILED, NULL);
        match_serve_lost(broker);
        return STATUS_OK;
    }
    if (!record_has_space(broker, RECORD_RELEASE, job)) {
        return STATUS_NO_SPACE;
    }
    JOB_COUNT(broker, job, releases);
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
    return STATUS_OK;
}

enum status broker_bury(struct session *session, uint64_t id, uint32_t pri)
{
    struct job *job = broker_held(session, id);

    ENSURE(!session->broker->settling);
    session->broker->store.position = 0;
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    outcome_buried(session->broker, job, pri);
    match_serve_lost(session->broker);
    return STATUS_OK;
}

enum status broker_touch(struct session *session, uint64_t id)
{
    struct job *job = broker_held(session, id);

    ENSURE(!session->broker->settling);
    if (!job) {
        return STATUS_NOT_FOUND;
    }
    lease_renew(session, job);
    return STATUS_OK;
}

bool broker_report_waits(const struct session *session, uint64_t id)
{
    const struct job *job = finishable(session, id);
    const struct interest *interest = job ? job_interest(job) : NULL;

    return interest && interest->count > 0 &&
           (interest_untold(interest) >= BROKER_SLICE ||
            session->broker->telling.untold[interest->slow] >= BROKER_SLICE);
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
