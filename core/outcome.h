/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_OUTCOME_H
#define TANDEM_CORE_OUTCOME_H

// Private to the core: how a job leaves its holder (done, failed, lost, set aside), what the store
// and its watches are told of that, and what becomes of the job. Nothing here can fail. The verb
// that calls one of these calls match_serve_lost() (match.h) before it returns.

#include "core/broker.h"
#include "core/decision.h"

// The holder has lost the job (CAUSE_LEFT, CAUSE_TTR or CAUSE_LIMIT): what decide() says of that
// happens to it. Where the process ends, or its holder has not been told of it, nobody is to blame.
void outcome_lost(struct broker *broker, struct job *job, enum loss_cause cause);

// Its worker says that the job cannot be done.
void outcome_failed(struct broker *broker, struct job *job, struct blob *exception);

// The job is gone for good.
void outcome_ended(struct broker *broker, struct job *job, enum job_event_kind kind,
                   struct blob *data);

// Sets the job aside, or fails it where it is not durable.
void outcome_buried(struct broker *broker, struct job *job, uint32_t pri);

// The job, which is ready, has waited too long. Its watches are told that it failed; it is not
// counted as failed.
void outcome_expired(struct broker *broker, struct job *job);

// Its holder loses it without blame: ready, or delayed for so long; one that nobody wants any more
// is gone. The store has room for RECORD_RELEASE.
void outcome_released(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for);

// The same, as its holder wishes: without a delay, that may be an attempt to its queue's policy.
void outcome_given_back(struct broker *broker, struct job *job, uint32_t pri, nsec_t delay_for);

// Takes a watch out and frees it; a job that nobody wants any more goes with its last watch, or
// once it is not held.
void outcome_unwatched(struct watch *watch);

#endif
