/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_OUTCOME_H
#define TANDEM_CORE_OUTCOME_H

// Private to the core: how a job leaves its holder or its queue (completed, failed, lost, buried,
// expired), what the store and the watches of the job are told, and what becomes of the job.
// Nothing here can fail. The verb that calls one of these calls match_serve_lost() (match.h) before
// it returns.

#include "core/broker.h"
#include "core/decision.h"
#include "core/gate.h"
#include "core/session_private.h"

// The holder has lost the job (CAUSE_LEFT, CAUSE_TTR or CAUSE_LIMIT): does what decide() says. If
// the process ends, or the holder has not been told of the job, no attempt is spent.
void outcome_lost(struct broker *broker, struct job *job, enum loss_cause cause);

// The worker reports that the job cannot be done.
void outcome_failed(struct broker *broker, struct job *job, struct blob *exception);

// The job is gone for good.
void outcome_ended(struct broker *broker, struct job *job, enum job_event_kind kind,
                   struct blob *data);

// Buries the job, or fails it if it is not durable.
void outcome_buried(struct broker *broker, struct job *job, uint32_t pri);

// The holder loses the job and no attempt is spent: the job is ready, or delayed for `delay_for`; a
// job that is abandoned is gone. The store has room for RECORD_RELEASE.
void outcome_released(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for);

// The same at the holder's own request: without a delay, the policy of its queue may count that as
// an attempt.
void outcome_given_back(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for);

// Removes and frees a watch. A job that is not durable goes with its last watch, or, if it is held,
// once it is not.
void outcome_unwatched(struct watch *watch);

//
// Expiry: jobs that have been ready for longer than the policy of their queue allows
//

// The expiry timer of a queue is due: removes one job that has expired, or indexes one. The queue
// may be gone afterwards.
void expire_step(struct broker *broker, struct timer *over);

// Removes the job if it is ready and has expired. True: it is gone, or in another queue.
bool expire_if_due(struct broker *broker, struct job *job);

//
// Removal. Each of these may end a queue: unless it is kept, a queue goes with its last job,
// subscription or holder.
//

// Takes a job out of everything and frees it. Its interest has been given up (watch.h).
void job_end(struct broker *broker, struct job *job);

// Ends a subscription; leases are not touched.
void subscription_end(struct subscription *subscription);

// Frees the queue if nothing refers to it any more.
void queue_vanish_if_idle(struct broker *broker, struct queue *queue);

#endif
