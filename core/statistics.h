/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_STATISTICS_H
#define TANDEM_CORE_STATISTICS_H

// Statistics of a broker and its queues, for monitoring: counters of events, and histograms of how
// long jobs waited and ran. Nothing here changes a job. Results are borrowed (broker.h).
//
// Counters only rise. The counters of a queue begin at 0 when it is made, and go with it; those of
// the broker are the sums over all queues since it began. A restart begins at 0 again: restored
// jobs do not count as submitted.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/status.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counts {
    uint64_t submitted; // accepted jobs; a submission that joined a job does not count
    uint64_t completed; // jobs that their worker reported as done
    uint64_t failed;    // jobs that their worker reported as failed, whose last attempt was lost,
                        // or that are not durable and were buried, or came back without a watch;
                        // buried and moved ones of these, too
    uint64_t buried;    // jobs set aside, because they failed or because their worker asked for it
    uint64_t timeouts;  // leases that ended by time
    uint64_t retries;   // leases after which the job waits for another attempt, since they ended by
                        // time, or their holder left, unsubscribed, gave the job back, released it,
                        // or reported a failure that is to be retried
    uint64_t deleted;   // jobs that were cancelled, or that no client wanted any more
    uint64_t unwanted;  // of these, the latter: not durable, and their last watch ended
    uint64_t releases;  // by workers or operators
    uint64_t kicks;     // kicked jobs
    uint64_t expired;   // jobs that were ready for longer than the policy of their queue allows,
                        // whatever happened to them then; they do not count as failed
    uint64_t dead;      // jobs that the policy of the queue moved to its dead queue
};

void queue_counts(const struct queue *queue, struct counts *counts);
void broker_counts(const struct broker *broker, struct counts *counts);

struct broker_info {
    uint64_t jobs[JOB_STATES];
    uint64_t ready[BAND_COUNT];
    uint64_t total_jobs;
    uint64_t timeouts; // leases that ended by time
    uint64_t queues;
    uint64_t sessions;
    uint64_t waiting;   // sessions that wait, for a job or for a nudge
    uint64_t producers; // sessions that have ever submitted a job, or joined one
    uint64_t workers;   // sessions that have ever asked for a job, or for a nudge
    bool draining;
};

void broker_info(const struct broker *broker, struct broker_info *info);

//
// Durations
//

// A histogram of durations with the bounds 0.1, 0.15, 0.2, 0.3, 0.4, 0.6 ms ... 9.9 days, two for
// each doubling; the last bucket holds longer ones. The counts are not cumulative.
#define HISTOGRAM_BOUNDS 67
struct histogram {
    uint64_t in[HISTOGRAM_BOUNDS + 1];
    uint64_t sum_us; // each duration rounded down; in nanoseconds the sum could overflow
};

// The upper bound of a bucket, inclusive; that of the bucket before is its lower bound, exclusive.
// NSEC_NEVER for the last.
nsec_t histogram_bound(size_t bucket);

// The durations of a queue: 1,104 bytes, allocated when the first one is counted.
struct queue_times {
    struct histogram wait; // from when the job became ready until a worker got it
    struct histogram run; // from there until its worker reported it as done, failed or to be buried
};

// Switches the counting of durations on or off; it is off at first. Counts are retained.
void broker_observe(struct broker *broker, bool observe);

// NULL if none were counted. Without memory for them, nothing is counted. Waits are measured in
// steps of about a millisecond (2^20 ns), and wrap after 52 days; a job that a worker waited for
// has waited for 0. A job that is completed after its lease ended has no run, nor has a lease that
// was renewed while nothing was observed.
const struct queue_times *queue_times(const struct queue *queue);

// The durations of all queues since the broker began, including those of removed queues, and those
// that a queue could not count without memory.
const struct queue_times *broker_times(const struct broker *broker);

// The ready job that has waited longest, and for how long, in the same steps; NULL if none is
// ready. Only the first job of each priority is looked at, since later ones came later. Jobs behind
// it have waited longer if it came back (its delay ended, or it was released, lost or kicked) to
// its old place, and are missed. Of more than 64 priorities, the 32 lowest and the 32 highest
// numbers are looked at. Each look is a search in a tree.
const struct job *queue_oldest_ready(const struct broker *broker, const struct queue *queue,
                                     nsec_t *age_for);

// How long a ready job has been ready, in the same steps, or a held one held. False if that is not
// known: in other states, and for some leases while nothing is observed.
bool job_state_for(const struct broker *broker, const struct job *job, nsec_t *state_for);

#endif
