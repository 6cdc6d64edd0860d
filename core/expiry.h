/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_EXPIRY_H
#define TANDEM_CORE_EXPIRY_H

// Private to the core: jobs that expire, because they have been ready for longer than the policy of
// their queue allows (`expire_after_for`). broker_tick() then removes them. The end of a lease by
// its time to run is not here, but in turn.c (tick_alarm) and lease.h.
//
// The time for which a job has been ready is measured in steps of 2^20 ns (observe.h); a job has
// expired when it has certainly been ready for so long, up to two steps later.
//
// The gate of a queue that lets jobs expire has an index of its ready jobs: a tree by the moment at
// which they became ready, so that its first job expires first, and the broker wakes exactly then.
// An entry is a block of its own, found by that moment and the job's id: a job has no room for it,
// and jobs of other queues cost nothing. Jobs enter as they become ready. Jobs that existed when
// the policy came are indexed in slices, and so are jobs for which there was no memory, a second
// later; until then they expire late. expiry_is_over() depends on the job alone.
//
// If the first job in the order of the queue has expired but is not removed yet, the session that
// chooses a job closes the queue until it is removed: no expired job is given to a worker.

#include "core/gate.h"
#include "core/job_private.h"

#include <stdbool.h>

// No job expires for this long after a restart.
#define EXPIRY_SPARED_FOR (600 * NSEC_PER_SEC)

static inline bool queue_expires(const struct queue *queue)
{
    return queue->gate && queue->policy->rule.spec.expire_after_for > 0;
}

// True if the job, which is ready in a queue that lets jobs expire, has expired.
bool expiry_is_over(const struct broker *broker, const struct queue *queue, const struct job *job);

// Closes the queue if its first job has expired. True if it has.
bool expiry_hold(struct broker *broker, struct queue *queue);

// Adapts the queue to a policy with another `expire_after_for`, or without one.
void expiry_set(struct broker *broker, struct queue *queue);

// For queues that let jobs expire: the job became ready; it is about to leave that state.
void expiry_add(struct broker *broker, struct queue *queue, struct job *job);
void expiry_remove(struct broker *broker, struct queue *queue, const struct job *job);

// Sets the step since which a job, in any queue, is ready.
void expiry_set_since(struct broker *broker, struct queue *queue, struct job *job, uint32_t step);

// The expired job of the queue to remove next; NULL for none.
struct job *expiry_next(struct broker *broker, const struct queue *queue);

// Enters a job into the index, if it is missing there: the first job in the order of the queue
// behind that of the last call. NULL: there is none.
void expiry_index(struct broker *broker, struct queue *queue, struct job *job);

// Opens the queue if its first job has not expired, and sets its timer.
void expiry_review(struct broker *broker, struct queue *queue);

// When the queue has work; NSEC_NEVER: never. It may be in the past.
nsec_t expiry_due_at(const struct broker *broker, const struct queue *queue);

// Frees entries of indexes of queues that do not let jobs expire any more, within the budget.
void expiry_free_dropped(struct broker *broker, unsigned *budget);

// True if the index has the job.
bool expiry_has(const struct broker *broker, const struct queue *queue, const struct job *job);

#endif
