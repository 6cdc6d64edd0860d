/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_LEASE_H
#define TANDEM_CORE_LEASE_H

// Private to the core: leases. A session holds a job until its time to run is over, counted from
// the last report, or until the limit of the subscription that it was taken by, whichever is first.
//
// The store may be told of a lease, by a memo, so that it survives a restart
// (core/durable_lease.h). `lease_durable` in the job's extra part says that there is such a memo.

#include "core/broker_private.h"
#include "core/durable_lease.h"
#include "core/job_private.h"
#include "core/session_private.h"

// Gives the job, a new one or one that is not held, to the session: RESERVED, with a lease. `by` is
// the subscription that it was taken by, NULL for none; the caller has made the room for its limit.
void lease_begin(struct session *session, struct job *job, const struct subscription *by);

// Starts the time to run of a job that the session holds again; the limit of its subscription
// stays.
void lease_renew(struct session *session, struct job *job);

// Calls `act` for the leases of the session that end at `until` or before, soonest first, one slice
// of them at a time; a lease whose end `act` moves back is met again. True: all have been met.
// False: call it again, with the same arguments, before anything else is done with the session's
// leases. (Without memory to note its place, it does all at once.)
typedef void (*lease_fn)(struct session *session, struct job *job,
                         const struct subscription *subscription);
bool session_walk_leases(struct session *session, nsec_t until, lease_fn act,
                         const struct subscription *subscription);

//
// Leases that the store knows of
//

// The content of a memo.
struct lease_memo {
    struct durable_lease lease;
    uint32_t reserves;  // of the job, this lease included
    bool data_reported; // in the attempt
};

// The memo of the lease of the job of that id, whether the job is held or not. False where there is
// none, or none that can be read.
bool lease_memo_find(const struct broker *broker, uint64_t job_id, struct lease_memo *content);

// The lease is over, or can no longer be resumed: drops its memo. `recorded`: a record of what
// becomes of the job implies it (RECORD_END, _RELEASE, _BURY, _MOVE); otherwise a record of its own
// is written, if the store has room.
void lease_memo_drop(struct broker *broker, uint64_t job_id, bool recorded);

// The job leaves its holder.
static inline void lease_memo_end(struct broker *broker, struct job *job, bool recorded)
{
    if (job->extra && job->extra->lease_durable) {
        job->extra->lease_durable = false;
        lease_memo_drop(broker, job->id, recorded);
    }
}

// The process ends: the memo stays, so that the lease can go on in the next process.
static inline void lease_memo_leave(struct job *job)
{
    if (job->extra) {
        job->extra->lease_durable = false;
    }
}

// A store that gives jobs back has a record of the job that ends any lease.
static inline void lease_memo_restored_end(struct broker *broker, uint64_t job_id)
{
    if (broker->memos.of[MEMO_LEASE].usage.count > 0) {
        lease_memo_drop(broker, job_id, true);
    }
}

#endif
