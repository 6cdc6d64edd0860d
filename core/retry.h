/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RETRY_H
#define TANDEM_CORE_RETRY_H

// Private to the core: the attempts of a job, and how long it waits between two. The policy is NULL
// where the queue has none.

#include "core/base/nsec.h"
#include "core/policy.h"

#include <stdbool.h>

// One more attempt is spent.
void retry_spend(struct job *job);

// Whether attempts of durable jobs are told to the store as they are spent.
bool retry_kept(const struct policy_spec *policy);

// How long the job waits before its next attempt; 0: not at all. The same each time that it is
// asked about the same attempt, as long as the broker lives.
nsec_t retry_backoff(const struct broker *broker, const struct job *job,
                     const struct policy_spec *policy);

#endif
