/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_POLICY_H
#define TANDEM_CORE_POLICY_H

// Policies: the host's settings for all jobs of a queue, whichever client submits or works them.
// The contract of a job takes precedence. All queues of a rule share one policy.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/status.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum backoff { BACKOFF_NONE, BACKOFF_FIXED, BACKOFF_EXPONENTIAL };

// What happens to a job whose last attempt is spent.
enum on_exhausted {
    ON_EXHAUSTED_CONTRACT, // as its contract says
    ON_EXHAUSTED_BURY,
    ON_EXHAUSTED_DROP,
    ON_EXHAUSTED_MOVE // to the dead queue
};

// What happens to an expired job: it fails, or moves to the dead queue.
enum on_expired { ON_EXPIRED_DROP, ON_EXPIRED_MOVE };

// The random share of a backoff is given in parts of this.
#define POLICY_JITTER_WHOLE UINT32_C(1000000)
// The longest `expire_after_for`: waits are measured in steps that wrap (statistics.h).
#define POLICY_EXPIRE_MAX (30 * INT64_C(86400) * NSEC_PER_SEC)
#define POLICY_WEIGHT_MAX 1000
// The largest number of rules.
#define POLICY_RULES_MAX 1200

// All zero changes nothing.
struct policy_spec {
    // Retries. An attempt is a lease that was lost, a time-out, a failure that the worker reported,
    // or, with count_releases, a release without a delay.
    uint32_t max_attempts; // of jobs whose contract names none; 0: no limit. At most
                           // JOB_ATTEMPTS_MAX
    enum backoff backoff;
    nsec_t backoff_min_for;  // FIXED: each; EXPONENTIAL: the first, doubled by each attempt
    nsec_t backoff_max_for;  // 0: no maximum
    uint32_t backoff_jitter; // up to POLICY_JITTER_WHOLE: the random share that is subtracted
    bool count_releases;
    enum on_exhausted on_exhausted;
    struct slice dead_queue; // a name, in which "{queue}" stands for the queue's own

    // Limits. They refuse new jobs, and do not affect jobs that exist. 0: no limit.
    uint64_t max_jobs;
    uint64_t max_bytes;       // of bodies
    uint64_t max_job_size;    // of one body, in bytes
    uint64_t max_running;     // jobs held at a time
    nsec_t rate_interval_for; // between two jobs that are taken, on average; 0: any rate
    uint32_t burst;           // jobs that may be taken at once after a rest; 0 means 1

    // Age.
    nsec_t expire_after_for; // the longest time a job may be ready without a break; 0: no limit. At
                             // most POLICY_EXPIRE_MAX
    enum on_expired on_expired;

    uint32_t weight; // share of takes among queues of equal priority; 0: no weight

    // Duplicates.
    bool unique_body;      // the body of a job without a key is its key
    nsec_t unique_for_for; // how long the key of a job that is done still joins submissions

    nsec_t keep_result_for; // of jobs that no client waits for; 0: results are not kept
};

// The policy of all queues whose names match the glob (core/base/glob.h) and no rule before it.
struct policy_rule {
    struct slice glob;
    struct slice origin; // where the rule is defined, as text, for explanations
    uint64_t tag;        // the host's; the core does not read it
    bool tell;           // the host wants to know its queues: broker_policy_changed_next()
    bool falls_through;  // for the host's own settings, the next rule that matches counts
    struct policy_spec spec;
};

// Rules are set in two steps, since a host has other steps that may fail in between. First the
// rules are copied. STATUS_NO_MEMORY and STATUS_TOO_LARGE (more than POLICY_RULES_MAX): `*copies`
// is unchanged.
struct policy_copies;
enum status policies_copy(const struct policy_rule *rules, size_t count,
                          struct policy_copies **copies) MUST_USE;
// Then the copies come into force, and the broker owns them. New queues have their rules at once,
// other queues get theirs in slices of the next ticks.
void broker_use_policies(struct broker *broker, struct policy_copies *copies);
// Or they are freed. NULL is allowed.
void policies_discard(struct policy_copies *copies);

// The rule of the queue; NULL for none. Borrowed until the next tick.
const struct policy_rule *queue_policy(const struct queue *queue);

// The first rule that matches the queue and does not fall through; NULL for none. It compares the
// name with each rule before it. Borrowed until the next tick.
const struct policy_rule *broker_policy_fallback(const struct broker *broker,
                                                 const struct queue *queue);

// The next queue that got or lost a rule with `tell` and was not reported yet; NULL for none. A
// removed queue is not reported.
struct queue *broker_policy_changed_next(struct broker *broker);

// True if broker_policy_changed_next() has a queue to report.
bool broker_policy_changed_pending(const struct broker *broker);

#endif
