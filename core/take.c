/* SPDX-License-Identifier: MIT */

// Taking a job: the best one there is, or the one of an id.

#include "core/choice.h"
#include "core/lease.h"
#include "core/match.h"
#include "core/weigh.h"
#include "core/session_private.h"
#include "core/charge.h"
#include "core/job_private.h"
#include "core/key.h"
#include "core/record_private.h"
#include "core/expire.h"

static inline enum status take(struct session *session, struct subscription *by, struct job *best,
                               const struct job **job)
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

// Where queues let jobs expire, or have weights. What is over and would be the best job goes first,
// as far as a slice reaches; then the queue is closed until some ticks later. What has gone may
// have come to another queue of the session meanwhile.
static APART enum status take_with_care(struct session *session, const struct job **job)
{
    struct broker *broker = session->broker;
    struct subscription *by = NULL;
    struct job *best = choice_best_or_over(session, &by);
    unsigned budget = BROKER_SLICE;
    enum status status;

    while (best && budget > 0 && expire_if_over(broker, best)) {
        charge_pay_unit(broker, &budget);
        best = choice_best_or_over(session, &by);
    }
    if (budget == 0) {
        best = choice_best(session, &by);
    }
    status = take(session, by, best, job);
    if (status == STATUS_OK) {
        weigh_taken(by, best);
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
        return take_with_care(session, job);
    }
    best = choice_best(session, &by);
    return take(session, by, best, job);
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
    if (!found || found->state == JOB_RESERVED || expire_if_over(broker, found)) {
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
