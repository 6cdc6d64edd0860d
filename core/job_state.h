/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_JOB_STATE_H
#define TANDEM_CORE_JOB_STATE_H

#include "core/job_private.h"
#include "core/timers.h"

// Private to the core: the change of a job's state. Only these functions touch the containers that
// jobs stand in (job.h says which), so that the counts beside them stay true.
//
// A state change knows containers and counts and nothing that uses them: it matches no job with a
// session, ends no key and frees nothing. Where a session loses a job that it was assigned but has
// not been told of, it is put into broker->matching.to_serve: the verb that made the change serves
// these sessions before it returns (match_serve_lost() in match.h).

// Where a job goes, and what it has there.
struct job_place {
    enum job_state state; // not JOB_GONE
    uint32_t pri;
    bool to_back;           // draws a new place among equals
    nsec_t due_at;          // DELAYED, RESERVED
    bool on_wall;           // DELAYED
    bool imposed;           // DELAYED: no submitter asked for this wait
    struct session *holder; // RESERVED
    uint64_t last_holder;   // READY
    uint64_t burial;        // BURIED: 0: after all others
};

// Puts a new job into the index by id and into its place.
void job_begin(struct broker *broker, struct job *job, const struct job_place *to);

// Moves a job from one state to another, or to another place of the same state.
void job_move(struct broker *broker, struct job *job, const struct job_place *to);

// Gives a job another priority, whatever its state; all else about its place is kept.
void job_set_pri(struct broker *broker, struct job *job, uint32_t pri);

// Puts a job that nobody holds into another queue, in the state in which it is, at its place among
// equals; with its delay, behind others that end at the same moment; a buried one behind all that
// are buried there.
void job_transfer(struct broker *broker, struct job *job, struct queue *to);

// Takes a job out of its place and out of the index by id, for good.
void job_leave(struct broker *broker, struct job *job);

// The bound of a queue may still be where a job of it stood once, and no two bounds may be equal: a
// job that has left, and takes its place among equals along to another queue, has it moved.
void job_give_up_bound(struct broker *broker, struct queue *queue, uint64_t seq);

// All jobs are back: buried ones stand in a list from now on.
void queue_end_return(struct queue *queue);

// The place in the state READY that changes nothing else about the job.
struct job_place job_ready_place(const struct job *job);

// The first ready job of the queue that comes after that place; the last one that has a lower
// priority number; the last one of all. NULL for none.
struct job *queue_ready_after(const struct queue *queue, uint32_t pri, uint64_t seq);
struct job *queue_ready_before(const struct queue *queue, uint32_t pri);
struct job *queue_ready_last(const struct queue *queue);

// The first delayed job of the queue, of those on that clock, that comes after that place.
struct delay_place {
    nsec_t due_at;
    uint32_t order;
    uint64_t seq;
};
struct job *queue_delayed_after(const struct queue *queue, enum clock clock,
                                const struct delay_place *place);
// The last one of these; NULL for none.
struct job *queue_delayed_last(const struct queue *queue, enum clock clock);

// The first lease of the session that comes after that moment and place; the last one that comes
// before it; NULL for none.
struct job *session_lease_after(const struct session *session, nsec_t due_at, uint64_t seq);
struct job *session_lease_before(const struct session *session, nsec_t due_at, uint64_t seq);

#endif
