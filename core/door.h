/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_DOOR_H
#define TANDEM_CORE_DOOR_H

// Private to the core: what may turn a job away, whether it is submitted or brought in.

#include "core/base/memory.h"
#include "core/broker_private.h"
#include "core/session_private.h"
#include "core/policy_private.h"
#include "core/queue_private.h"
#include "core/status.h"

// Whether anything may come to that queue from `by` now; NULL is the host itself. STATUS_FORBIDDEN,
// STATUS_DRAINING, STATUS_NO_MEMORY.
static inline enum status door_check_sender(const struct broker *broker, const struct queue *queue,
                                            struct session *by)
{
    if (!caller_may(by, MAY_SUBMIT, queue)) {
        return STATUS_FORBIDDEN;
    }
    if (broker->draining) {
        return STATUS_DRAINING;
    }
    if (by) {
        session_submits(by);
    }
    return memory_is_short() ? STATUS_NO_MEMORY : STATUS_OK;
}

// Those that limits count: buried ones wait for a person, and nobody who submits can do anything
// about them.
static inline uint64_t door_jobs_in(const struct queue *queue)
{
    return queue_jobs(queue) - queue->jobs[JOB_BURIED];
}

static inline enum status door_check_policy(const struct policy_spec *policy,
                                            const struct queue *queue, size_t len)
{
    if ((policy->max_job_size > 0 && len > policy->max_job_size) ||
        (policy->max_bytes > 0 && len > policy->max_bytes)) {
        return STATUS_JOB_TOO_LARGE;
    }
    if ((policy->max_jobs > 0 && door_jobs_in(queue) >= policy->max_jobs) ||
        (policy->max_bytes > 0 && queue->bytes > policy->max_bytes - len)) {
        return STATUS_QUEUE_FULL;
    }
    return STATUS_OK;
}

// Whether the queue's limits let in a job of that priority, with a body of that length.
// STATUS_QUEUE_FULL, STATUS_JOB_TOO_LARGE.
static inline enum status door_check_limits(const struct queue *queue, uint32_t pri, size_t len)
{
    uint32_t limit = queue->limits[band_of(pri)];

    if (limit > 0 && door_jobs_in(queue) >= limit) {
        return STATUS_QUEUE_FULL;
    }
    return queue->policy ? door_check_policy(POLICY_OF(queue), queue, len) : STATUS_OK;
}

#endif
