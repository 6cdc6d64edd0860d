/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MODEL_EXPIRY_H
#define TANDEM_CORE_MODEL_EXPIRY_H

// Private to the core: ready jobs that have waited for longer than the policy of their queue lets
// them (`expire_after_for`). What becomes of them: verbs/expire.h.
//
// How long a job has been ready is told by steps of 2^20 ns (observe.h); a job is over when it has
// certainly been ready for so long, which is up to two steps later. The queue's gate has a moment
// at which somebody looks for such jobs, from the first to the last, and knows how far it has come.
// Where the first job is over before that, nothing is taken from the queue until it has gone: no
// job is given to a worker that is over.

#include "core/model/gate.h"
#include "core/model/job.h"

#include <stdbool.h>

// For so long after a restart none is over.
#define EXPIRY_SPARED_FOR (600 * NSEC_PER_SEC)

static inline bool queue_expires(const struct queue *queue)
{
    return queue->gate && queue->policy->rule.spec.expire_after_for > 0;
}

// Whether the job, which is ready, is over. Its queue lets jobs expire.
bool expiry_is_over(const struct broker *broker, const struct queue *queue, const struct job *job);

// Where the first ready job is over, the queue is closed, and looked at now. True where it was.
bool expiry_hold(struct broker *broker, struct queue *queue);

// The queue has come to let jobs expire, after another time than before, or not any more.
void expiry_set(struct broker *broker, struct queue *queue);

// A job of the queue, which lets jobs expire, has become ready.
void expiry_came(struct broker *broker, struct queue *queue);

// Opens the queue, where its first job is not over; one that is, and was not seen, is looked at
// now.
void expiry_review(struct broker *broker, struct queue *queue);

// The next look begins at that moment; NSEC_NEVER: at none.
void expiry_set_look(struct broker *broker, struct queue *queue, nsec_t at);

// When a job that has waited for so long is over; not before the present.
nsec_t expiry_over_at(const struct broker *broker, const struct queue *queue, nsec_t waited_for);

#endif
