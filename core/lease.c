/* SPDX-License-Identifier: MIT */
#include "core/lease.h"

#include "core/kept_lease.h"
#include "core/charge.h"
#include "core/job_state.h"
#include "core/job_private.h"
#include "core/observe.h"
#include "core/watch.h"

#include <limits.h>

// The room was made by whoever asked for the job: in the job, or in the session.
static struct job_extra *room_for_limit(struct session *session, struct job *job)
{
    if (!job->extra) {
        ENSURE(session->extra && session->extra->spare);
        job->extra = session->extra->spare;
        job->extra->job = job;
        session->extra->spare = NULL;
    }
    return job->extra;
}

// When a lease that begins or is renewed now ends, where it may not go beyond `limit_at` (0: may).
static nsec_t lease_end(const struct broker *broker, const struct job *job, nsec_t limit_at)
{
    nsec_t end = job->ttr ? nsec_add(broker->now.mono, nsec_from_seconds(job->ttr)) : NSEC_NEVER;

    return limit_at && limit_at < end ? limit_at : end;
}

// What an attempt said that was left open, in case its holder is only late, counts for nothing now.
static void begin_attempt(struct job *job)
{
    if (!job->extra) {
        return;
    }
    job->extra->data_reported = false;
    job->extra->data_lost = false;
    job->extra->result_lost = false;
    job->extra->begun = false;
    if (job->extra->interest && job_expired(job)) {
        interest_retried(job->extra->interest);
    }
}

void lease_begin(struct session *session, struct job *job, const struct subscription *by)
{
    struct broker *broker = session->broker;
    bool limited = by && by->limit_ms > 0;
    bool fresh = job->state == JOB_GONE;
    nsec_t limit_at =
        limited ? nsec_add(broker->now.mono, (nsec_t)by->limit_ms * NSEC_PER_MSEC) : 0;
    const struct job_place held = {
        .state = JOB_RESERVED,
        .pri = job->pri,
        .to_back = fresh,
        .due_at = lease_end(broker, job, limit_at),
        .holder = session,
    };

    job_count_reserve(broker, job);
    job->renewed = false;
    job->data_unkept = false;
    begin_attempt(job);
    if (broker->observing) {
        observe_taken(broker, job, limited);
    }
    if (fresh) {
        job_begin(broker, job, &held);
    } else {
        job_move(broker, job, &held);
    }
    job->imposed_or_by_id = !by;
    if (limited) {
        struct job_extra *extra = room_for_limit(session, job);

        extra->limit_at = limit_at;
        extra->fail_on_limit = by->fail_on_limit;
    }
}

void lease_renew(struct session *session, struct job *job)
{
    const struct job_place place = {
        .state = JOB_RESERVED,
        .pri = job->pri,
        .holder = session,
        .due_at = lease_end(session->broker, job, job->extra ? job->extra->limit_at : 0),
    };

    if (session->broker->observing) {
        observe_renewal(session->broker, job);
    }
    job->renewed = true;
    if (place.due_at != job->due_at) {
        job_move(session->broker, job, &place);
    }
    if (job->extra && job->extra->lease_durable) {
        kept_lease_renewed(session->broker, job);
    }
}

bool session_walk_leases(struct session *session, nsec_t until, lease_fn act,
                         const struct subscription *subscription)
{
    struct session_extra none = {.walked_due_at = 0};
    struct session_extra *walk = NULL;
    unsigned budget = BROKER_SLICE;
    struct job *job;

    // What was begun in slices goes on from its place, however few are left.
    if (session->lease_count > BROKER_SLICE || (session->extra && session->extra->walked_due_at)) {
        walk = session_extra(session);
    }
    if (!walk) {
        walk = &none;
        budget = UINT_MAX; // never used up
    }
    while ((job = session_lease_after(session, walk->walked_due_at, walk->walked_seq)) &&
           job->due_at <= until) {
        if (budget == 0) {
            return false;
        }
        walk->walked_due_at = job->due_at;
        walk->walked_seq = job->seq;
        act(session, job, subscription);
        charge_pay_unit(session->broker, &budget);
    }
    walk->walked_due_at = 0;
    walk->walked_seq = 0;
    return true;
}
