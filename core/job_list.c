/* SPDX-License-Identifier: MIT */

// Walks over the jobs of one queue, or of one session. Where a walk stands is told by what orders
// the jobs, so that it goes on from there whatever has become of the job that it saw last.

#include "core/broker_private.h"
#include "core/job_state.h"
#include "core/job_private.h"
#include "core/queue_private.h"
#include "core/session_private.h"

static enum status found(const struct job *next, const struct job **job)
{
    *job = next;
    return next ? STATUS_OK : STATUS_EMPTY;
}

// at: pri, seq
static enum status next_ready(const struct queue *queue, struct job_cursor *cursor,
                              const struct job **job)
{
    const struct job *next = queue_ready_after(queue, (uint32_t)cursor->at[0], cursor->at[1]);

    if (next) {
        cursor->at[0] = next->pri;
        cursor->at[1] = next->seq;
    }
    return found(next, job);
}

// part: the clock; at: due_at, order, seq
static enum status next_delayed(const struct queue *queue, struct job_cursor *cursor,
                                const struct job **job)
{
    struct job *next = NULL;

    for (; cursor->part < CLOCKS; *cursor = (struct job_cursor){.part = cursor->part + 1}) {
        const struct delay_place place = {(nsec_t)cursor->at[0], (uint32_t)cursor->at[1],
                                          cursor->at[2]};

        next = queue_delayed_after(queue, (enum clock)cursor->part, &place);
        if (next) {
            cursor->at[0] = (uint64_t)next->due_at;
            cursor->at[1] = next->order;
            cursor->at[2] = next->seq;
            break;
        }
    }
    return found(next, job);
}

// The job of that id, where it is buried in that queue.
static const struct job *buried(const struct broker *broker, const struct queue *queue, uint64_t id)
{
    const struct job *job = broker_job(broker, id);

    return job && job->state == JOB_BURIED && job->queue == queue->place ? job : NULL;
}

// part: how many jobs the search has passed; at: burial of the last seen, an id that is to be found
// in the list. Where the last seen has gone, its place is looked for from the beginning: the
// longest buried mostly go first.
static enum status next_buried(const struct broker *broker, const struct queue *queue,
                               struct job_cursor *cursor, const struct job **job)
{
    const struct job *near = cursor->at[1] ? buried(broker, queue, cursor->at[1]) : NULL;
    const struct list_node *node;

    if (near && near->burial > cursor->at[0]) {
        near = NULL; // it was buried anew, and stands further behind
    }
    node = near ? near->place.list.next : queue->buried.next;
    for (int i = 0; node != &queue->buried; i++, node = node->next) {
        const struct job *next = job_in_list(node);

        cursor->at[1] = next->id;
        if (next->burial > cursor->at[0]) {
            cursor->at[0] = next->burial;
            return found(next, job);
        }
        if (i == BROKER_SLICE) {
            return STATUS_MORE;
        }
    }
    return STATUS_EMPTY;
}

// at: due_at, seq
static enum status next_lease(const struct session *session, uint64_t at[2], const struct job **job)
{
    const struct job *next = session_lease_after(session, (nsec_t)at[0], at[1]);

    if (next) {
        at[0] = (uint64_t)next->due_at;
        at[1] = next->seq;
    }
    return found(next, job);
}

// The first session at that place or after it that holds jobs, or NULL with the place of the last
// that was looked at.
static const struct session *next_holder(const struct broker *broker, uint32_t *place,
                                         unsigned *budget)
{
    const struct session *session;
    uint32_t after = *place;

    while ((session = table_next(&broker->index.sessions, &after))) {
        *place = session->place;
        if (session->lease_count > 0 || --*budget == 0) {
            break;
        }
    }
    return session;
}

// part: the place of the session; at: its number, due_at, seq
static enum status next_reserved(const struct broker *broker, const struct queue *queue,
                                 struct job_cursor *cursor, const struct job **job)
{
    unsigned budget = BROKER_SLICE;
    const struct session *session;

    while ((session = next_holder(broker, &cursor->part, &budget))) {
        if (cursor->at[0] != session->number) {
            *cursor = (struct job_cursor){.part = session->place, .at = {session->number}};
        }
        while (next_lease(session, cursor->at + 1, job) == STATUS_OK) {
            if ((*job)->queue == queue->place) {
                return STATUS_OK;
            }
            if (--budget == 0) {
                return STATUS_MORE;
            }
        }
        cursor->part++;
        if (budget == 0) {
            return STATUS_MORE;
        }
    }
    return STATUS_EMPTY;
}

enum status queue_jobs_next(const struct broker *broker, const struct queue *queue,
                            enum job_state state, struct job_cursor *cursor, const struct job **job)
{
    switch (state) {
    case JOB_DELAYED:
        return next_delayed(queue, cursor, job);
    case JOB_READY:
        return next_ready(queue, cursor, job);
    case JOB_RESERVED:
        return next_reserved(broker, queue, cursor, job);
    case JOB_BURIED:
        return next_buried(broker, queue, cursor, job);
    case JOB_GONE:
        break;
    }
    return STATUS_EMPTY;
}

enum status session_jobs_next(const struct session *session, struct job_cursor *cursor,
                              const struct job **job)
{
    return next_lease(session, cursor->at, job);
}
