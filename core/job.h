/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_JOB_H
#define TANDEM_CORE_JOB_H

// Reading jobs: to find them, to walk over them, and their properties. Nothing here changes a job.
// Results are borrowed (broker.h).

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/status.h"
#include "core/submit.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The live job of that id, NULL for none.
const struct job *broker_find(const struct broker *broker, uint64_t id);

// The live job with that name as its key in the queue, NULL for none.
const struct job *broker_find_key(const struct broker *broker, const struct queue *queue,
                                  struct slice key);

// The live job of that name in any queue; of several, the one that has held it longest. NULL for
// none.
const struct job *broker_find_name(const struct broker *broker, struct slice key);

// Of the jobs in other queues with the name of this one, the one that has held it longest after it;
// NULL for none.
const struct job *job_next_of_name(const struct job *job);

uint64_t job_id(const struct job *job);
struct slice job_body(const struct job *job);
// The blob of a large body; NULL for a small one.
struct blob *job_blob(const struct job *job);
const struct queue *job_queue(const struct broker *broker, const struct job *job);
bool job_held_by(const struct broker *broker, const struct job *job, const struct session *session);
// The session that holds the job; NULL for none.
const struct session *job_holder(const struct broker *broker, const struct job *job);

struct job_info {
    uint64_t id;
    enum job_state state;
    const struct queue *queue;
    uint32_t pri;
    nsec_t age_for;       // since it was submitted
    nsec_t created_at;    // wall
    nsec_t delay_for;     // as last given, whole seconds
    nsec_t ttr_for;       // 0: none
    nsec_t remaining_for; // until the lease or the delay ends, 0 or more; 0 in other states
    uint32_t reserves, timeouts, releases, buries, kicks, attempts;
    uint32_t max_attempts;
    enum on_fail on_fail;
    enum on_loss on_loss;
    bool durable;
    uint32_t watches;
    uint64_t numerator, denominator; // as last reported, else 0
    bool data_reported;              // in this attempt: a watch that joins now misses that part
    enum key_kind key_kind;
    struct slice key, reducer; // valid as long as the job
};

void broker_job_info(const struct broker *broker, const struct job *job, struct job_info *info);

//
// Walks over jobs
//

// The state of a walk over all live jobs: all zero at first. It refers to no job, and stays valid
// over any verb.
struct job_walk {
    uint64_t position; /* private */
    uint64_t id;       /* private */
    bool over;         /* private */
};

// Walks all live jobs, in no particular order. STATUS_OK: `*job` is the next one; STATUS_MORE: this
// step found none, call again; STATUS_EMPTY: the end. A step looks at a few jobs, and a whole walk
// takes about as many steps as there are jobs. A job that lives during the whole walk is returned
// exactly once, a job that comes or goes meanwhile at most once.
enum status broker_job_next(const struct broker *broker, struct job_walk *walk,
                            const struct job **job) MUST_USE;

// The state of a walk over the jobs of a queue or a session: all zero at first. It consists of
// plain numbers, valid whatever they are: a walk may continue after they were written down and read
// again.
struct job_cursor {
    uint64_t at[4];
    uint32_t part;
};

// Walks the jobs of the queue in that state: READY ones in the order in which workers take them,
// DELAYED ones as their delays end (those until a calendar moment after all others), BURIED ones in
// the order of their burials, RESERVED ones by their holders. STATUS_OK: `*job` is the next one;
// STATUS_MORE: a slice is over, call again; STATUS_EMPTY: the end. A job that keeps its place is
// returned exactly once; a job that comes, goes or changes its place meanwhile may be missed. Only
// a lease that is renewed may be returned twice.
enum status queue_jobs_next(const struct broker *broker, const struct queue *queue,
                            enum job_state state, struct job_cursor *cursor,
                            const struct job **job) MUST_USE;

// Walks the jobs that the session holds, in the order in which their leases end; else the same.
// Never STATUS_MORE.
enum status session_jobs_next(const struct session *session, struct job_cursor *cursor,
                              const struct job **job) MUST_USE;

#endif
