/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_DURABLE_LEASE_H
#define TANDEM_CORE_DURABLE_LEASE_H

// Leases that outlive the process. A worker that is not tied to a connection may come back after a
// restart, and its job should still be its own. So whoever speaks for such a worker has the lease
// of a durable job kept: the store is told of it, under a name by which it is found again, and told
// again as it is renewed. After a restart the job is ready, as any that was held; who knows the
// name resumes the lease before anybody else may take the job, and has it for what is left of its
// time by the wall clock. A lease that nobody resumes must be discarded.
//
// No answer waits for what is told of a lease: where it is lost, the job is done once more, as that
// of any other lease. For the same reason a lease that cannot be kept, since memory or the store
// has no room, is a lease all the same.
//
// Kept leases are memos (memo.h), one a job. They go with the lease, however that ends, but stay
// when the process ends (broker_retire()).

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
    nsec_t until_at;  // wall clock: its end, rounded up to a second
    nsec_t limit_for; // from each word of its holder on; 0: the job's time to run is all
    unsigned char name[DURABLE_LEASE_NAME];
};

// The session's lease of the job is kept from now on: with that name and limit; where it ends is
// seen. Nothing happens where the job is not durable or there is no store, where the lease has no
// end, or there is no room. The job must be held by the session.
void broker_lease_persist(struct session *session, const struct durable_lease *lease);

// The next lease that a store has given back, behind `*cursor`, which is 0 at first. Between two
// calls these may be resumed or discarded.
bool broker_durable_lease_next(struct broker *broker, uint64_t *cursor,
                               struct durable_lease *lease) MUST_USE;

// The session has the job of that lease again, until its end, though for no longer than a lease of
// the job lasts; it is kept as before. STATUS_NOT_FOUND: the lease is over, or the job is not ready
// any more; STATUS_NO_MEMORY. Before broker_tick() is called, nobody else has had the job.
enum status broker_lease_resume(struct session *session,
                                const struct durable_lease *lease) MUST_USE;

// The store is to forget it; not of a lease that a session has.
void broker_lease_discard(struct broker *broker, uint64_t job_id);

#endif
