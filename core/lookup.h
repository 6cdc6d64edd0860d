/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_LOOKUP_H
#define TANDEM_CORE_LOOKUP_H

// Private to the core: from a job to its queue and its holder, and from an id to its job. A job
// refers to both by their places in the broker's tables.

#include "core/broker_private.h"
#include "core/job.h"
#include "core/session.h"

static inline struct queue *queue_at(const struct broker *broker, const struct job *job)
{
    return table_get(&broker->index.queues, job->queue);
}

// The session that holds the job; NULL where it is not RESERVED.
static inline struct session *holder_of(const struct broker *broker, const struct job *job)
{
    return job->state == JOB_RESERVED ? table_get(&broker->index.sessions, job->holder) : NULL;
}

// The job of that id, NULL for none.
static inline struct job *broker_job(const struct broker *broker, uint64_t id)
{
    return id_map_find(&broker->index.jobs_by_id, id);
}

// The job of that id while this session holds it, NULL otherwise.
static inline struct job *broker_held(const struct session *session, uint64_t id)
{
    struct job *job = broker_job(session->broker, id);

    return job && holder_of(session->broker, job) == session ? job : NULL;
}

#endif
