/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_KEPT_LEASE_H
#define TANDEM_CORE_KEPT_LEASE_H

// Private to the core: what the store is told of leases that are kept (core/durable_lease.h). A job
// whose lease is kept says so in its rare part (`lease_durable`), and there is a memo of it.

#include "core/durable_lease.h"
#include "core/broker_private.h"
#include "core/job_private.h"

// What a memo says.
struct kept_state {
    struct durable_lease lease;
    uint32_t reserves;  // of the job, this lease included
    bool data_reported; // in the attempt
};

// False for what is none, or none that can be read.
bool kept_lease_read(const struct memo *memo, struct kept_state *state);
// The same of the job of that id, whether it is held or not.
bool kept_lease_find(const struct broker *broker, uint64_t job_id, struct kept_state *state);

// The job, which is held, has that name and limit to be kept. Whether it is.
bool kept_lease_set(struct broker *broker, const struct job *job,
                    const struct durable_lease *lease);

// The lease has another end, or its holder has reported data. Once a second at most.
void kept_lease_renewed(struct broker *broker, const struct job *job);

// It is over, or nobody may resume it. `told`: the record of what becomes of the job says so
// (RECORD_END, _RELEASE, _BURY, _MOVE); otherwise a record of its own does, if there is room.
void kept_lease_forget(struct broker *broker, uint64_t job_id, bool told);

// The job leaves its holder.
void kept_lease_end(struct broker *broker, struct job *job, bool told);
static inline void kept_lease_over(struct broker *broker, struct job *job, bool told)
{
    if (job->extra && job->extra->lease_durable) {
        kept_lease_end(broker, job, told);
    }
}

// The process ends: the lease goes on in the next one.
static inline void kept_lease_leave(struct job *job)
{
    if (job->extra) {
        job->extra->lease_durable = false;
    }
}

// A store that gives things back says of the job what ends any lease.
static inline void kept_lease_restored_over(struct broker *broker, uint64_t job_id)
{
    if (broker->memos.of[MEMO_LEASE].usage.count > 0) {
        kept_lease_forget(broker, job_id, true);
    }
}

#endif
