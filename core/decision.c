/* SPDX-License-Identifier: MIT */
#include "core/decision.h"

#include "core/base/macros.h"
#include "core/retry.h"

// Nobody is to blame for these: the job is as it was before its holder had it.
static bool is_blameless(enum loss_cause cause)
{
    return cause == CAUSE_UNDELIVERED || cause == CAUSE_STOPPED || cause == CAUSE_PUT_BACK;
}

static bool spends_attempt(const struct loss_facts *facts, const struct policy_spec *policy,
                           enum loss_cause cause)
{
    switch (cause) {
    case CAUSE_LEFT:
    case CAUSE_TTR:
    case CAUSE_LIMIT:
    case CAUSE_LIMIT_FAILS:
        return true;
    case CAUSE_FAILED:
        return retry_kept(policy);
    case CAUSE_RELEASED:
        return policy && policy->count_releases && !facts->abandoned;
    case CAUSE_UNDELIVERED:
    case CAUSE_STOPPED:
    case CAUSE_PUT_BACK:
    case CAUSE_EXPIRED:
        return false;
    }
    UNREACHABLE();
}

// Of its contract, which comes first, or else of the policy; 0: no limit.
static uint32_t most_attempts(const struct loss_facts *facts, const struct policy_spec *policy)
{
    if (facts->max_attempts > 0) {
        return facts->max_attempts;
    }
    return policy ? policy->max_attempts : 0;
}

// Whether the job is tried no more; `attempts` counts the present one. A holder's word that it
// cannot be done is one more attempt only where a policy has retries, their number is bounded, and
// nobody waits for the answer.
static bool is_final(const struct loss_facts *facts, const struct policy_spec *policy,
                     enum loss_cause cause, uint32_t attempts)
{
    uint32_t most = most_attempts(facts, policy);
    bool over = most > 0 && attempts >= most;

    if (cause == CAUSE_FAILED || cause == CAUSE_LIMIT_FAILS) {
        return over || most == 0 || !retry_kept(policy) || facts->watched;
    }
    return over && (cause != CAUSE_RELEASED || spends_attempt(facts, policy, cause));
}

// Of a job that is not to be tried again. One that a policy has taken to a dead queue waits for a
// person: neither a policy nor its contract ends it.
static enum disposal final_disposal(const struct loss_facts *facts,
                                    const struct policy_spec *policy, enum loss_cause cause)
{
    if (!facts->durable) {
        return DISPOSAL_END;
    }
    if (facts->dead) {
        return DISPOSAL_BURY;
    }
    if (cause == CAUSE_EXPIRED) {
        return policy && policy->on_expired == ON_EXPIRED_MOVE ? DISPOSAL_MOVE : DISPOSAL_END;
    }
    switch (policy ? policy->on_exhausted : ON_EXHAUSTED_CONTRACT) {
    case ON_EXHAUSTED_CONTRACT:
        return facts->on_fail == ON_FAIL_BURY ? DISPOSAL_BURY : DISPOSAL_END;
    case ON_EXHAUSTED_BURY:
        return DISPOSAL_BURY;
    case ON_EXHAUSTED_DROP:
        return DISPOSAL_END;
    case ON_EXHAUSTED_MOVE:
        return DISPOSAL_MOVE;
    }
    UNREACHABLE();
}

struct decision decide(const struct loss_facts *facts, const struct policy_spec *policy,
                       enum loss_cause cause)
{
    bool spends = spends_attempt(facts, policy, cause);
    struct decision decision = {.disposal = DISPOSAL_RETRY, .spends = spends};

    if (facts->abandoned) {
        decision.disposal = DISPOSAL_END;
    } else if (cause == CAUSE_EXPIRED ||
               (!is_blameless(cause) && is_final(facts, policy, cause, facts->attempts + spends))) {
        decision.disposal = final_disposal(facts, policy, cause);
    } else if (is_blameless(cause) || (cause == CAUSE_RELEASED && !spends)) {
        decision.disposal = DISPOSAL_RETURN;
    }
    return decision;
}
