/* SPDX-License-Identifier: MIT */
#include "core/decision.h"

#include "core/base/macros.h"

bool decision_has_retries(const struct policy_spec *policy)
{
    return policy && (policy->max_attempts > 0 || policy->backoff != BACKOFF_NONE ||
                      policy->on_exhausted != ON_EXHAUSTED_CONTRACT);
}

static bool decision_spends(const struct loss_facts *facts, const struct policy_spec *policy,
                            enum loss_cause cause)
{
    switch (cause) {
    case CAUSE_LEFT:
    case CAUSE_TTR:
    case CAUSE_LIMIT:
    case CAUSE_LIMIT_FAILS:
        return true;
    case CAUSE_FAILED:
        return decision_has_retries(policy);
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

// Whether the job is not tried again; `attempts` counts the one that ends now. A job that its
// worker failed is tried again only if a policy has retries, their number is bounded, and no client
// waits for the answer.
static bool decision_is_final(const struct loss_facts *facts, const struct policy_spec *policy,
                              enum loss_cause cause, uint32_t attempts)
{
    uint32_t policy_most = policy ? policy->max_attempts : 0;
    // The contract comes first; 0: no limit.
    uint32_t most = facts->max_attempts > 0 ? facts->max_attempts : policy_most;
    bool over = most > 0 && attempts >= most;

    if (cause == CAUSE_FAILED || cause == CAUSE_LIMIT_FAILS) {
        return over || most == 0 || !decision_has_retries(policy) || facts->watched;
    }
    return over && (cause != CAUSE_RELEASED || decision_spends(facts, policy, cause));
}

// Of a job that is not tried again. A job that a policy has taken to a dead queue waits for an
// operator: neither a policy nor its contract ends it.
static enum disposal decision_final(const struct loss_facts *facts,
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
    bool spends = decision_spends(facts, policy, cause);
    // These causes leave the job as it was before its holder had it.
    bool blameless =
        cause == CAUSE_UNDELIVERED || cause == CAUSE_STOPPED || cause == CAUSE_PUT_BACK;
    struct decision decision = {.disposal = DISPOSAL_RETRY, .spends = spends};

    if (facts->abandoned) {
        decision.disposal = DISPOSAL_END;
    } else if (cause == CAUSE_EXPIRED ||
               (!blameless && decision_is_final(facts, policy, cause, facts->attempts + spends))) {
        decision.disposal = decision_final(facts, policy, cause);
    } else if (blameless || (cause == CAUSE_RELEASED && !spends)) {
        decision.disposal = DISPOSAL_RETURN;
    }
    return decision;
}
