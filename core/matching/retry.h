/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MATCHING_RETRY_H
#define TANDEM_CORE_MATCHING_RETRY_H

// Private to the core: how often a job is tried, and how long it waits between two attempts. The
// contract's number of attempts comes before the policy's; all else is the policy's, which is NULL
// where the queue has none.

#include "core/base/nsec.h"
#include "core/policies.h"

#include <stdbool.h>

// One more attempt is spent.
void retry_spend(struct job *job);

// Whether none is left.
bool retry_over(const struct job *job, const struct policy_spec *policy);

// Whether its worker's word that the job cannot be done is only one more attempt that was spent:
// the policy bounds attempts, or the contract does, one is left, and nobody waits for the answer.
bool retry_despite_word(const struct job *job, const struct policy_spec *policy);

// Whether attempts of durable jobs are told to the store as they are spent.
bool retry_kept(const struct policy_spec *policy);

// How long the job waits before its next attempt; 0: not at all. The same each time that it is
// asked about the same attempt, as long as the broker lives.
nsec_t retry_backoff(const struct broker *broker, const struct job *job,
                     const struct policy_spec *policy);

#endif
