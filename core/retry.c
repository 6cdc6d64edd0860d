/* SPDX-License-Identifier: MIT */
#include "core/retry.h"

#include "core/broker_private.h"
#include "core/job_private.h"

// No backoff is longer than what a submitter may ask for as a delay.
#define BACKOFF_MOST nsec_from_seconds(UINT32_MAX)

void retry_spend(struct job *job)
{
    if (job->attempts < JOB_ATTEMPTS_MAX) {
        job->attempts = (job->attempts + 1u) & 0x3ffu;
    }
}

bool retry_kept(const struct policy_spec *policy)
{
    return policy && (policy->max_attempts > 0 || policy->backoff != BACKOFF_NONE ||
                      policy->on_exhausted != ON_EXHAUSTED_CONTRACT);
}

// Without what is left to chance.
static nsec_t whole_backoff(uint32_t attempts, const struct policy_spec *policy)
{
    nsec_t most = policy->backoff_max_for > 0 && policy->backoff_max_for < BACKOFF_MOST
                      ? policy->backoff_max_for
                      : BACKOFF_MOST;
    nsec_t backoff = policy->backoff_min_for < most ? policy->backoff_min_for : most;

    switch (policy->backoff) {
    case BACKOFF_NONE:
        return 0;
    case BACKOFF_FIXED:
        return backoff;
    case BACKOFF_EXPONENTIAL:
        // Doubled at most 63 times, for then it is the longest.
        for (uint32_t i = 1; i < attempts && backoff > 0 && backoff < most; i++) {
            backoff = backoff <= most / 2 ? 2 * backoff : most;
        }
        return backoff;
    }
    UNREACHABLE();
}

// A part of the duration, less than all of it, that nobody outside can foretell.
static nsec_t chance_of(const struct broker *broker, const struct job *job, nsec_t whole_for)
{
    const uint64_t about[] = {job->id, job->attempts};
    uint64_t dice = siphash(&broker->key, (const char *)about, sizeof about) >> 32;
    uint64_t whole = (uint64_t)whole_for;

    // whole * dice / 2^32, in two steps that do not overflow.
    return (nsec_t)((whole >> 32) * dice + (((whole & UINT32_MAX) * dice) >> 32));
}

nsec_t retry_backoff(const struct broker *broker, const struct job *job,
                     const struct policy_spec *policy)
{
    const nsec_t parts = POLICY_JITTER_WHOLE;
    nsec_t backoff = policy ? whole_backoff(job->attempts, policy) : 0;
    nsec_t jitter;

    if (backoff == 0 || policy->backoff_jitter == 0) {
        return backoff;
    }
    jitter =
        backoff / parts * policy->backoff_jitter + backoff % parts * policy->backoff_jitter / parts;
    return backoff - chance_of(broker, job, jitter);
}
