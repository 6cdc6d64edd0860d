/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_JOB_H
#define TANDEM_CORE_JOB_H

// Looking at jobs, queues and the broker. Nothing here changes anything. What comes out is borrowed
// (broker.h).

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

// The live job of that id, NULL where there is none.
const struct job *broker_find(const struct broker *broker, uint64_t id);

// The live job of that name in the queue, NULL where there is none.
const struct job *broker_find_key(const struct broker *broker, const struct queue *queue,
                                  struct slice key);

// The live job of that name in any queue; of several, the one that has held it longest. NULL where
// there is none.
const struct job *broker_find_name(const struct broker *broker, struct slice key);

// Of the jobs in other queues that have the name of that one, the one that has held it longest
// after it; NULL where there is none.
const struct job *job_next_of_name(const struct job *job);

// Where a walk over all live jobs stands: all zero at first. It refers to no job, and may be kept
// over any verb.
struct job_walk {
    uint64_t position; /* private */
    uint64_t id;       /* private */
    bool over;         /* private */
};

// Walks all live jobs, in no order that means anything. STATUS_OK: `*job` is the next one;
// STATUS_MORE: this step found none, call again; STATUS_EMPTY: that was all. A step looks at a few
// jobs, and a whole walk takes about as many steps as there are jobs. A job that lives all through
// the walk is seen exactly once, one that comes or goes meanwhile perhaps; none is seen twice.
enum status broker_job_next(const struct broker *broker, struct job_walk *walk,
                            const struct job **job) MUST_USE;

uint64_t job_id(const struct job *job);
struct slice job_body(const struct job *job);
// What its body is in, where it is large; NULL otherwise.
struct blob *job_blob(const struct job *job);
const struct queue *job_queue(const struct broker *broker, const struct job *job);
bool job_held_by(const struct broker *broker, const struct job *job, const struct session *session);
// The session that holds the job; NULL where none does.
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
    nsec_t remaining_for; // until the lease or the delay ends, never negative; 0 where neither runs
    uint32_t reserves, timeouts, releases, buries, kicks, attempts;
    uint32_t max_attempts;
    enum on_fail on_fail;
    enum on_loss on_loss;
    bool durable;
    uint32_t watches;
    uint64_t numerator, denominator; // as last reported, else 0
    bool data_reported;              // in the present attempt: who joins now does not get that part
    enum key_kind key_kind;
    struct slice key, reducer; // valid as long as the job
};

void broker_job_info(const struct broker *broker, const struct job *job, struct job_info *info);

//
// Walks over jobs
//

// Where a walk stands: all zero at first. Plain numbers, whatever they are: a walk may go on after
// they have been written down and read again, and refers to nothing that could have gone.
struct job_cursor {
    uint64_t at[4];
    uint32_t part;
};

// Walks the jobs of the queue that are in that state: READY ones as they are to be taken, DELAYED
// ones as their delays end (those until a calendar moment after all others), BURIED ones longest
// buried first, RESERVED ones by their holders. STATUS_OK: `*job` is the next one; STATUS_MORE: a
// slice is over, call again; STATUS_EMPTY: that was all. A job that stays where it is is seen
// exactly once, one that comes, goes or changes its place meanwhile perhaps; a lease that is
// renewed may be seen twice, and nothing else.
enum status queue_jobs_next(const struct broker *broker, const struct queue *queue,
                            enum job_state state, struct job_cursor *cursor,
                            const struct job **job) MUST_USE;

// Walks the jobs that the session holds, the lease that ends soonest first; the same otherwise.
// Never STATUS_MORE.
enum status session_jobs_next(const struct session *session, struct job_cursor *cursor,
                              const struct job **job) MUST_USE;

#endif
