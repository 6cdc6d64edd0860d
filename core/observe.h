/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_OBSERVE_H
#define TANDEM_CORE_OBSERVE_H

// Private to the core: what has happened in a queue is counted, and, where the host observes, how
// long jobs wait and are worked on.
//
// When a wait began, the job says: `ready_at_step`, in steps of 2^20 ns, which are reckoned quickly
// and wrap after 52 days. When a lease began, its end says, less the time to
// run; where that does not hold (there is no time to run, or a limit, or it was started anew), the
// block for rare things does, if it could be had.

#include "core/broker.h"
#include "core/broker_private.h"
#include "core/job_private.h"
#include "core/queue_private.h"

// One more of a counter of struct counts, of the queue and of the broker.
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

// How long a ready job has been so.
static inline nsec_t job_waited_for(const struct broker *broker, const struct job *job)
{
    return (nsec_t)(wait_step(broker->now.mono) - job->ready_at_step) << WAIT_STEP_BITS;
}

// How long a held job has been held; false where that is not known, or nobody holds it.
bool job_held_for(const struct broker *broker, const struct job *job, nsec_t *held_for);

// A session is about to take the job, which is still where it was, with or without a limit to its
// lease; the time to run of a held job is about to start anew; its worker says that it is done.
void observe_taken(struct broker *broker, struct job *job, bool limited);
void observe_renewal(struct broker *broker, struct job *job);
void observe_done(struct broker *broker, const struct job *job);

// The worker says that it is done with the job.
static inline void observe_finished(struct broker *broker, const struct job *job)
{
    if (broker->observing) {
        observe_done(broker, job);
    }
}

// The queue goes.
void observe_queue_gone(struct broker *broker, struct queue *queue);

// Private to the core: what the log is told of jobs that fail or lose their holder.

// A line `event` at info with the job, its queue and why, unless there were too many lately. The
// job is as it is before it leaves its holder.
void loss_log(struct broker *broker, const struct job *job, const char *event, const char *why);

#endif
