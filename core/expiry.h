/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_EXPIRY_H
#define TANDEM_CORE_EXPIRY_H

// Private to the core: ready jobs that have waited for longer than the policy of their queue lets
// them (`expire_after_for`). What becomes of them: expire.h.
//
// How long a job has been ready is told by steps of 2^20 ns (observe.h); a job is over when it has
// certainly been ready for so long, which is up to two steps later.
//
// The gate of a queue that lets jobs expire has an index of the ready jobs: a tree by the moment at
// which they became ready, so that the first of it is over before all others, and the broker wakes
// right then. An entry is a block of its own, which is found by that moment and the job's id: a job
// has no room for it, and pays nothing in other queues. Jobs enter as they become ready. Those that
// are there when the policy comes are indexed in slices, and so are those for which there was no
// memory, a second later; until then they expire late. Whether one job is over, it says itself.
//
// Where more are over than a slice has removed, and the first of the queue's order is one of them,
// whoever chooses a job closes the queue until that is no longer so: no job that is over is given
// to a worker.

#include "core/gate.h"
#include "core/job_private.h"

#include <stdbool.h>

// For so long after a restart none is over.
#define EXPIRY_SPARED_FOR (600 * NSEC_PER_SEC)

static inline bool queue_expires(const struct queue *queue)
{
    return queue->gate && queue->policy->rule.spec.expire_after_for > 0;
}

// Whether the job, which is ready, is over. Its queue lets jobs expire.
bool expiry_is_over(const struct broker *broker, const struct queue *queue, const struct job *job);

// Where the first job in the order of the queue is over, the queue is closed. True where it was.
bool expiry_hold(struct broker *broker, struct queue *queue);

// The queue has come to let jobs expire, after another time than before, or not any more.
void expiry_set(struct broker *broker, struct queue *queue);

// For queues that let jobs expire. The job has become ready; is about to be ready no more.
void expiry_add(struct broker *broker, struct queue *queue, struct job *job);
void expiry_remove(struct broker *broker, struct queue *queue, const struct job *job);

// The job, which is ready, has been so since that step, whether or not its queue lets jobs expire.
void expiry_set_since(struct broker *broker, struct queue *queue, struct job *job, uint32_t step);

// The job of the queue, which lets jobs expire, that is to go next; NULL where none is over.
struct job *expiry_next(struct broker *broker, const struct queue *queue);

// Enters that job into the index where it is not in there: the first in the order of the queue
// behind those of which the last call said so. NULL: there is none.
void expiry_index(struct broker *broker, struct queue *queue, struct job *job);

// Opens the queue, where its first job is not over, and sets the moment at which to go on.
void expiry_review(struct broker *broker, struct queue *queue);

// When there is something to be done for the queue; NSEC_NEVER: never. It may have passed.
nsec_t expiry_due_at(const struct broker *broker, const struct queue *queue);

// Frees indexes of queues that do not let jobs expire any more, as far as the budget goes.
void expiry_free_dropped(struct broker *broker, unsigned *budget);

// Whether the index has the job.
bool expiry_has(const struct broker *broker, const struct queue *queue, const struct job *job);

#endif
