/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_DECISION_H
#define TANDEM_CORE_DECISION_H

// Private to the core: what becomes of a job that leaves its holder unfinished, or that has waited
// too long. One pure function decides it, from the job, the policy of its queue and the cause;
// outcome.c acts on the answer.

#include "core/policy.h"
#include "core/submit.h"

#include <stdbool.h>
#include <stdint.h>

enum loss_cause {
    CAUSE_UNDELIVERED, // what would have told the holder of it has not left the process
    CAUSE_STOPPED,     // the process ends, and its sessions with it
    CAUSE_LEFT,        // its holder left, or gave it back by unsubscribing
    CAUSE_TTR,         // its time to run is over
    CAUSE_LIMIT,       // its holder's own limit is over
    CAUSE_LIMIT_FAILS, // the same, where the holder wants the job to fail then
    CAUSE_FAILED,      // its holder says that it cannot be done
    CAUSE_RELEASED,    // its holder gives it back, to be tried again at once
    CAUSE_PUT_BACK,    // it is given back with a delay, or by an operator
    CAUSE_EXPIRED      // it was ready for longer than the policy of its queue allows
};
#define LOSS_CAUSES (CAUSE_EXPIRED + 1)

// What the decision looks at of a job. `attempts` does not count the one that ends now.
struct loss_facts {
    uint32_t attempts;
    uint32_t max_attempts; // of its contract; 0: none
    enum on_fail on_fail;
    bool durable;
    bool dead;      // it has a past: a policy has taken it to a dead queue
    bool watched;   // somebody waits for its end
    bool abandoned; // not durable, and nobody waits for its end any more
};

enum disposal {
    DISPOSAL_RETURN, // ready again as if the lease had not been; or as its holder puts it back
    DISPOSAL_RETRY,  // to be tried again, after the backoff of its policy if there is one
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

#endif
