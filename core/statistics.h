/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_STATISTICS_H
#define TANDEM_CORE_STATISTICS_H

// What has happened to jobs, how long they waited and were worked on, and which they are: for those
// who watch over a broker. Nothing here changes a job. What comes out is borrowed (broker.h).
//
// Counts rise only. Those of a queue begin at nothing when it comes, and go with it; those of the
// broker are the sums over all queues that there ever were since it began. A restart begins anew:
// jobs that come back from a store were not submitted since.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/status.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counts {
    uint64_t submitted; // jobs that were accepted; a submission that joined a job is none
    uint64_t completed; // done, by the word of their worker
    uint64_t failed;    // not done: by the word of their worker, or the last attempt was lost, or
                        // nothing keeps them. Those that were buried or moved for it, too
    uint64_t buried;    // set aside, because they failed or as their worker wished
    uint64_t timeouts;  // leases that ended by time, whatever became of the job
    uint64_t retries;   // leases after which the job waits to be worked anew: that ended by time,
                        // whose holder left, unsubscribed or gave the job back, or released it, or
                        // said that it cannot be done, where it is to be tried again
    uint64_t deleted;   // taken back by somebody, or not wanted by anybody any more
    uint64_t unwanted;  // of these, the latter: not durable, and their last watch has ended
    uint64_t releases;  // by their workers, or by an operator
    uint64_t kicks;     // jobs, of however many at once
    uint64_t expired;   // jobs that were ready for longer than their queue's policy lets them be,
                        // whatever became of them; they do not count as failed
    uint64_t dead;      // jobs that the queue's policy took to its dead queue
};

void queue_counts(const struct queue *queue, struct counts *counts);
void broker_counts(const struct broker *broker, struct counts *counts);

//
// How long it takes
//

// How many durations there were up to bounds of 0.1, 0.15, 0.2, 0.3, 0.4, 0.6 ms ... 9.9 days, two
// for each doubling; those that are longer are in the last bucket. Not cumulative.
#define HISTOGRAM_BOUNDS 67
struct histogram {
    uint64_t in[HISTOGRAM_BOUNDS + 1];
    uint64_t sum_us; // of each, rounded down: in nanoseconds, many long ones would be too many
};

// The bound of a bucket: it counts what is longer than the bound before and at most this.
// NSEC_NEVER for the last.
nsec_t histogram_bound(size_t bucket);

// For one queue, 1,104 bytes, made when something is first to be counted in it.
struct queue_times {
    struct histogram wait; // from when the job became ready until a worker got it
    struct histogram run; // from there to its worker's word that it is done, failed or to be buried
};

// Whether times are counted from now on; at first they are not. Those that were stay.
void broker_observe(struct broker *broker, bool observe);

// NULL where none were counted. Where memory is short, there may be no room for them: nothing is
// counted then. Waits are told in steps of about a millisecond (2^20 ns), and wrap after 52 days; a
// job that a worker waited for has waited for 0. What is completed late, by a worker whose lease
// has ended, has no run, nor has a lease that was renewed while nothing was observed.
const struct queue_times *queue_times(const struct queue *queue);

// The same of all queues that there ever were: what one that has gone had counted is in it still,
// and what one could not count for want of memory.
const struct queue_times *broker_times(const struct broker *broker);

// The ready job that has waited longest, and for how long, in the same steps; NULL where none is
// ready. Of each priority only the first job is looked at. The others came later, so that it has
// waited longest; but where it came back (its delay ended, it was released, lost or kicked) to its
// old place before them, they may have waited longer, and are not seen. Of more than 64 priorities,
// the 32 lowest and the 32 highest numbers are looked at. Each look is a search in a tree.
const struct job *queue_oldest_ready(const struct broker *broker, const struct queue *queue,
                                     nsec_t *age_for);

// For how long a ready job has been ready, in the same steps, and a held one held. False where that
// is not known: in other states, and of some leases while nothing is observed.
bool job_state_for(const struct broker *broker, const struct job *job, nsec_t *state_for);

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

#endif
