/* SPDX-License-Identifier: MIT */

// Taking a job: the best one there is, or the one of an id.

#include "core/matching/choice.h"
#include "core/matching/lease.h"
#include "core/matching/match.h"
#include "core/model/job.h"
#include "core/model/key.h"
#include "core/model/lookup.h"
#include "core/model/store.h"

enum status broker_take(struct session *session, const struct job **job)
{
    struct subscription *by = NULL;
    struct job *best = choice_best(session, &by);

    if (!best) {
        return STATUS_EMPTY;
    }
    if (by->limit_ms > 0 && !job_extra(session->broker, best)) {
        return STATUS_NO_MEMORY;
    }
    match_take(by, best);
    *job = best;
    return STATUS_OK;
}

enum status broker_take_id(struct session *session, uint64_t id, const struct job **job)
{
    struct broker *broker = session->broker;
    struct job *found = broker_job(broker, id);
    bool buried = found && found->state == JOB_BURIED;

    broker->store.position = 0;
    if (!found || found->state == JOB_RESERVED) {
        return STATUS_NOT_FOUND;
    }
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
