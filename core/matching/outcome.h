/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MATCHING_OUTCOME_H
#define TANDEM_CORE_MATCHING_OUTCOME_H

// Private to the core: how a job leaves its holder (done, failed, lost, set aside), what the store
// and its watches are told of that, and what becomes of the job. Nothing here can fail. The verb
// that calls one of these calls match_serve_lost() (match.h) before it returns.

#include "core/broker.h"

enum loss { LOSS_LEFT, LOSS_TTR, LOSS_LIMIT };

// The holder has lost the job: an attempt is spent.
void outcome_lost(struct broker *broker, struct job *job, enum loss loss);

// The job cannot be done: buried or dropped, as its submitter said.
void outcome_failed(struct broker *broker, struct job *job, struct blob *exception);

// The job is gone for good.
void outcome_ended(struct broker *broker, struct job *job, enum job_event_kind kind,
                   struct blob *data);

// Sets the job aside, or fails it where it is not durable.
void outcome_buried(struct broker *broker, struct job *job, uint32_t pri);

// Takes a watch out and frees it; a job that nobody wants any more goes with its last watch, or
// once it is not held.
void outcome_unwatched(struct watch *watch);

#endif
