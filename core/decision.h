/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_DECISION_H
#define TANDEM_CORE_DECISION_H

// Private to the core: what becomes of a job that leaves its holder unfinished, or that has waited
// too long. One pure function decides it, from the job, the policy of its queue and the cause;
// outcome.c acts on the answer.

#include "core/policy_private.h"
#include "core/submit.h"

#include <stdbool.h>
#include <stdint.h>

enum loss_cause {
    CAUSE_UNDELIVERED, // the bytes that tell its holder of the job have not left the process
    CAUSE_STOPPED,     // the process ends, and its sessions with it
    CAUSE_LEFT,        // its holder left, or gave it back by unsubscribing
    CAUSE_TTR,         // its time to run is over
    CAUSE_LIMIT,       // its holder's own limit is over
    CAUSE_LIMIT_FAILS, // the same, and the holder asked that the job fail then
    CAUSE_FAILED,      // its holder reports that it cannot be done
    CAUSE_RELEASED,    // its holder gives it back, to be tried again at once
    CAUSE_PUT_BACK,    // its holder gives it back with a delay, or an operator releases it
    CAUSE_EXPIRED      // it was ready for longer than the policy of its queue allows
};
#define LOSS_CAUSES (CAUSE_EXPIRED + 1)

// The facts about a job that the decision depends on.
struct loss_facts {
    uint32_t attempts;     // without the one that ends now
    uint32_t max_attempts; // of its contract; 0: no limit
    enum on_fail on_fail;
    bool durable;
    bool dead;      // a policy has taken it to a dead queue
    bool watched;   // some client waits for its end
    bool abandoned; // not durable, and its last watch has gone
};

enum disposal {
    DISPOSAL_RETURN, // ready again as before the lease; or as its holder puts it back
    DISPOSAL_RETRY,  // tried again, after the backoff of its policy, if there is one
    DISPOSAL_BURY,
    DISPOSAL_MOVE, // to the dead queue; buried where it cannot be moved
    DISPOSAL_END
};

struct decision {
    enum disposal disposal;
    bool spends; // an attempt
};

// `policy` may be NULL: the queue has none.
struct decision decide(const struct loss_facts *facts, const struct policy_spec *policy,
                       enum loss_cause cause);

// Whether the policy, which may be NULL, says anything about retries. Then a failure spends an
// attempt, and the store is told of the attempts of durable jobs as they are spent.
bool decision_has_retries(const struct policy_spec *policy);

#endif
