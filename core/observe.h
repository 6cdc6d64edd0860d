/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_OBSERVE_H
#define TANDEM_CORE_OBSERVE_H

// Private to the core: counters of events, durations (core/statistics.h), and log lines about lost
// jobs.
//
// A ready job has the beginning of its wait, `ready_at_step`, in steps of 2^20 ns, which are fast
// to compute and wrap after 52 days. The beginning of a lease is its end less the time to run; if
// that is wrong (without a time to run, with a limit, or after a renewal), the job's rare part has
// it, unless there was no memory for that.

#include "core/broker.h"
#include "core/broker_private.h"
#include "core/job_private.h"
#include "core/queue_private.h"

// Increments a counter of struct counts, of the queue and of the broker.
#define COUNT(broker, queue, what)                                                                 \
    do {                                                                                           \
        (broker)->count.ever.what++;                                                               \
        (queue)->ever.what++;                                                                      \
    } while (0)

#define WAIT_STEP_BITS 20

static inline uint32_t wait_step(nsec_t at)
{
    return (uint32_t)(at >> WAIT_STEP_BITS);
}

// How long a ready job has been ready.
static inline nsec_t job_waited_for(const struct broker *broker, const struct job *job)
{
    return (nsec_t)(wait_step(broker->now.mono) - job->ready_at_step) << WAIT_STEP_BITS;
}

// How long a held job has been held; false if that is not known, or it is not held.
bool job_held_for(const struct broker *broker, const struct job *job, nsec_t *held_for);

// Called before a session takes the job, with or without a limit to its lease; before the time to
// run of a held job starts again; and when its worker reports its outcome.
void observe_taken(struct broker *broker, struct job *job, bool limited);
void observe_renewal(struct broker *broker, struct job *job);
void observe_done(struct broker *broker, const struct job *job);

// The worker reports the outcome of the job.
static inline void observe_finished(struct broker *broker, const struct job *job)
{
    if (broker->observing) {
        observe_done(broker, job);
    }
}

// The queue is removed.
void observe_queue_gone(struct broker *broker, struct queue *queue);

// Logs `event` at level info, with the job, its queue and the reason, at most 10 times a second.
// Called before the job leaves its holder.
void loss_log(struct broker *broker, const struct job *job, const char *event, const char *why);

#endif
