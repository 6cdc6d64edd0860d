/* SPDX-License-Identifier: MIT */

// Leases that outlive the process: that they are kept, and how they are resumed after a restart.

#include "core/kept_lease.h"
#include "core/lease.h"
#include "core/job_state.h"
#include "core/job_private.h"
#include "core/memo_private.h"
#include "core/record_private.h"
#include "core/image.h"

void broker_lease_persist(struct session *session, const struct durable_lease *lease)
{
    struct broker *broker = session->broker;
    struct job *job = broker_held_job(session, lease->job_id);
    struct job_extra *extra;

    ENSURE(!broker->settling && job);
    extra = job_is_recorded(broker, job) ? job_extra(broker, job) : NULL;
    if (extra) {
        extra->lease_durable = kept_lease_set(broker, job, lease);
    }
}

bool broker_durable_lease_next(struct broker *broker, uint64_t *cursor, struct durable_lease *lease)
{
    const struct memo *memo;
    struct kept_state state;

    while ((memo = broker_memo_next(broker, MEMO_LEASE, cursor))) {
        if (kept_lease_read(memo, &state)) {
            *lease = state.lease;
            return true;
        }
        memo_forget(broker, memo_lookup(broker, MEMO_LEASE, memo->key));
    }
    return false;
}

// How long a lease of the job lasts, if it is not renewed.
static nsec_t lease_for(const struct job *job, const struct durable_lease *lease)
{
    nsec_t ttr_for = job->ttr ? nsec_from_seconds(job->ttr) : NSEC_NEVER;

    return lease->limit_for > 0 && lease->limit_for < ttr_for ? lease->limit_for : ttr_for;
}

// When a limit ends the lease that goes on until `end_at`; 0 where it has none. Where the time to
// run is longer, the lease ends by its limit. Where it is shorter, renewals may put the end off, up
// to the limit: how far that was is not kept, but it was no further than all of it from now.
static nsec_t limit_end(const struct broker *broker, const struct job *job, nsec_t limit_for,
                        nsec_t end_at)
{
    if (limit_for == 0) {
        return 0;
    }
    return job->ttr == 0 || limit_for <= nsec_from_seconds(job->ttr)
               ? end_at
               : nsec_add(broker->now.mono, limit_for);
}

// The job's lease has begun: with all of its time, and as one more.
static void go_on(struct session *session, struct job *job, const struct kept_state *state,
                  uint32_t reserves, nsec_t end_at)
{
    struct broker *broker = session->broker;
    const struct job_place held = {
        .state = JOB_RESERVED,
        .pri = job->pri,
        .due_at = end_at,
        .holder = session,
    };
    struct job_change now;

    job->renewed = true; // its end does not tell when it began
    job->extra->limit_at = limit_end(broker, job, state->lease.limit_for, end_at);
    job_move(broker, job, &held);
    job_describe_change(broker, job, &now);
    now.counters.reserves = reserves > state->reserves ? reserves : state->reserves;
    (void)image_set_counters(broker, job, &now.counters); // cannot fail: the room is there
    job->extra->data_reported = state->data_reported;
    // What was reported before is not here any more.
    job->data_unkept = state->data_reported;
    job->extra->lease_durable = true;
}

enum status broker_lease_resume(struct session *session, const struct durable_lease *lease)
{
    struct broker *broker = session->broker;
    struct job *job = broker_job(broker, lease->job_id);
    struct kept_state state;
    struct job_change before;
    nsec_t end_at;

    ENSURE(!broker->settling && !broker->restoring.active);
    if (!job || job->state != JOB_READY || !kept_lease_find(broker, job->id, &state) ||
        state.lease.until_at <= broker->now.wall) {
        return STATUS_NOT_FOUND;
    }
    end_at = image_on_mono_clock(broker, state.lease.until_at, lease_for(job, &state.lease));
    if (!job_extra(broker, job)) {
        return STATUS_NO_MEMORY;
    }
    job_describe_change(broker, job, &before);
    session_works(session);
    lease_begin(session, job, NULL);
    go_on(session, job, &state, before.counters.reserves, end_at);
    return STATUS_OK;
}

void broker_lease_discard(struct broker *broker, uint64_t job_id)
{
    const struct job *job = broker_job(broker, job_id);

    ENSURE(!broker->settling && !(job && job->extra && job->extra->lease_durable));
    kept_lease_forget(broker, job_id, false);
}
