/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_POLICY_H
#define TANDEM_CORE_POLICY_H

// Policies: what the host says of all jobs of a queue, whoever submits or works them. What a job's
// own contract says comes first. A policy is shared by all queues of its rule.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/status.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum backoff { BACKOFF_NONE, BACKOFF_FIXED, BACKOFF_EXPONENTIAL };

// What becomes of a job whose last attempt is spent.
enum on_exhausted {
    ON_EXHAUSTED_CONTRACT, // as its contract says
    ON_EXHAUSTED_BURY,
    ON_EXHAUSTED_DROP,
    ON_EXHAUSTED_MOVE // to the dead queue
};

// Of a job that has waited too long: it fails, or goes to the dead queue.
enum on_expired { ON_EXPIRED_DROP, ON_EXPIRED_MOVE };

// In parts of a million: the share of a backoff that is left to chance.
#define POLICY_JITTER_WHOLE UINT32_C(1000000)
// The longest `expire_after_for`: waits are told in steps that wrap (statistics.h).
#define POLICY_EXPIRE_MAX (30 * INT64_C(86400) * NSEC_PER_SEC)
#define POLICY_WEIGHT_MAX 1000
// How many rules there may be.
#define POLICY_RULES_MAX 1200

// All zero says nothing.
struct policy_spec {
    // Retries. An attempt is a lease that was lost, a time-out, or its worker's word that the job
    // cannot be done, and, with count_releases, a release without a delay.
    uint32_t max_attempts; // where the contract names none; 0: no limit. At most JOB_ATTEMPTS_MAX
    enum backoff backoff;
    nsec_t backoff_min_for;  // FIXED: each; EXPONENTIAL: the first, doubled by each attempt
    nsec_t backoff_max_for;  // 0: none
    uint32_t backoff_jitter; // up to POLICY_JITTER_WHOLE: so much of it may be taken off
    bool count_releases;
    enum on_exhausted on_exhausted;
    struct slice dead_queue; // a name; "{queue}" in it stands for the queue's own

    // Limits. They refuse new jobs, and never touch those that are there. 0: none.
    uint64_t max_jobs;
    uint64_t max_bytes;       // of bodies
    uint64_t max_job_size;    // of one body, in bytes
    uint64_t max_running;     // jobs that are held at a time
    nsec_t rate_interval_for; // between two jobs that are taken, on average; 0: any rate
    uint32_t burst;           // so many may be taken at once after a rest; 0 stands for 1

    // Age.
    nsec_t expire_after_for; // that a job is ready without a break; 0: never. At most
                             // POLICY_EXPIRE_MAX
    enum on_expired on_expired;

    uint32_t weight; // share of takes among queues of equal priority; 0: none is given

    // Once.
    bool unique_body;      // a job without a key has its body as one
    nsec_t unique_for_for; // how long a key goes on joining after its job is done

    nsec_t keep_result_for; // of jobs that nobody waits for; 0: results are not kept
};

// The policy of all queues whose names fit the glob (core/base/glob.h) and no rule before it.
struct policy_rule {
    struct slice glob;
    struct slice origin; // where the rule stands, in words; shown to whoever asks why
    uint64_t tag;        // the host's: not looked at
    bool tell;          // the host wants to know which queues have it: broker_policy_changed_next()
    bool falls_through; // what the host does with these queues is said by the next rule that fits
    struct policy_spec spec;
};

// These rules hold from now on; they are copied. New queues have theirs at once, those that are
// there in slices of the ticks to come. STATUS_NO_MEMORY and STATUS_TOO_LARGE (more than
// POLICY_RULES_MAX) leave things as they were.
enum status broker_set_policies(struct broker *broker, const struct policy_rule *rules,
                                size_t count) MUST_USE;

// The same in two steps, for a host that has more to do that may fail. The copies are made first;
// STATUS_NO_MEMORY and STATUS_TOO_LARGE leave `*copies` as it was.
struct policy_copies;
enum status policies_copy(const struct policy_rule *rules, size_t count,
                          struct policy_copies **copies) MUST_USE;
// They hold from now on, and are the broker's.
void broker_use_policies(struct broker *broker, struct policy_copies *copies);
// They are not wanted after all. NULL is allowed.
void policies_discard(struct policy_copies *copies);

// Whether all queues have the policies that were set last.
bool broker_policies_settled(const struct broker *broker);

// The rule that the queue has; NULL where none fits. Borrowed, until the next tick.
const struct policy_rule *queue_policy(const struct queue *queue);

// The first rule that fits the queue and does not pass on; NULL where none does. It takes as long
// as there are rules before it. Borrowed as above.
const struct policy_rule *broker_policy_fallback(const struct broker *broker,
                                                 const struct queue *queue);

// The next queue that has got or lost a rule with `tell`, and was not told of yet; NULL for none.
// A queue that has gone is not told of.
struct queue *broker_policy_changed_next(struct broker *broker);

// Whether broker_policy_changed_next() has any.
bool broker_policy_changed_pending(const struct broker *broker);

#endif
