/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_DURABLE_LEASE_H
#define TANDEM_CORE_DURABLE_LEASE_H

// Durable leases: leases that outlive the process. A worker without a connection of its own may
// come back after a restart, and should still have its job. The front-end of such a worker makes
// the lease of a durable job durable: the store records it under a name, and records it again as it
// is renewed. After a restart the job is ready, as every job that was held. A front-end that knows
// the name resumes the lease before another worker may take the job, for the rest of its time by
// the wall clock. It discards the leases that it does not resume.
//
// No answer waits for the record of a lease: if it is lost, the job is done again, as after any
// other lost lease. So a lease that cannot be recorded, because memory or the store is full, is
// still a lease.
//
// Durable leases are memos (memo.h), one for each job. They end with the lease, but not when the
// process ends (broker_retire()).

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct broker;
struct session;

#define DURABLE_LEASE_NAME 16

struct durable_lease {
    uint64_t job_id;
    nsec_t until_at;  // its end by the wall clock, rounded up to a second
    nsec_t limit_for; // from each report of its holder on; 0: only the job's time to run counts
    unsigned char name[DURABLE_LEASE_NAME];
};

// Makes the session's lease of the job durable, with that name and limit; its end is known. Nothing
// happens if the job is not durable, the lease has no end, there is no store, or no room. The
// session must hold the job.
void broker_lease_persist(struct session *session, const struct durable_lease *lease);

// The next restored lease behind `*cursor`, which is 0 at first. Leases may be resumed or discarded
// between two calls.
bool broker_durable_lease_next(struct broker *broker, uint64_t *cursor,
                               struct durable_lease *lease) MUST_USE;

// Gives the session the job of that lease, until the lease's end, but for at most one lease of the
// job; it stays durable. STATUS_NOT_FOUND: the lease has ended, or the job is not ready any more;
// STATUS_NO_MEMORY. Before the first broker_tick(), no other session has had the job.
enum status broker_lease_resume(struct session *session,
                                const struct durable_lease *lease) MUST_USE;

// Drops the record of a lease that no session has.
void broker_lease_discard(struct broker *broker, uint64_t job_id);

#endif
