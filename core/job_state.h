/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_JOB_STATE_H
#define TANDEM_CORE_JOB_STATE_H

#include "core/job_private.h"
#include "core/timers.h"

// Private to the core: changes of a job's state. Only these functions change the containers of jobs
// (job_private.h), so that the counts beside these stay correct.
//
// A state change knows containers and counts only: it assigns no job to a session, ends no key and
// frees nothing. A session that loses an assigned job before it was told of it enters
// broker->matching.to_serve: the verb that made the change serves these sessions before it returns
// (match_serve_lost() in match.h).

// The new state of a job, and its properties there.
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

// Sets the priority of a job in any state; nothing else about its place changes.
void job_set_pri(struct broker *broker, struct job *job, uint32_t pri);

// Moves a job that is not held to another queue, in its present state and at its place among
// equals; a delayed one behind others whose delays end at the same moment, a buried one behind all
// that are buried there.
void job_transfer(struct broker *broker, struct job *job, struct queue *to);

// Takes a job that ends out of its container and out of the index by id.
void job_leave(struct broker *broker, struct job *job);

// The bound of a queue may still be the place of a job that has left. No two bounds may be equal,
// so that a job that keeps its place in another queue calls this for its old one: it moves the
// bound.
void job_give_up_bound(struct broker *broker, struct queue *queue, uint64_t seq);

// All jobs are restored: the tree of buried jobs becomes a list.
void queue_end_return(struct queue *queue);

// The state READY with the job's present properties.
struct job_place job_ready_place(const struct job *job);

// The first ready job of the queue after that place; the last one with a lower priority number; the
// last one of all. NULL for none.
struct job *queue_ready_after(const struct queue *queue, uint32_t pri, uint64_t seq);
struct job *queue_ready_before(const struct queue *queue, uint32_t pri);
struct job *queue_ready_last(const struct queue *queue);

// The first delayed job of the queue on that clock after that place.
struct delay_place {
    nsec_t due_at;
    uint32_t order;
    uint64_t seq;
};
struct job *queue_delayed_after(const struct queue *queue, enum clock clock,
                                const struct delay_place *place);
// The last one of these; NULL for none.
struct job *queue_delayed_last(const struct queue *queue, enum clock clock);

// The first lease of the session after that moment and place; the last one before it; NULL for
// none.
struct job *session_lease_after(const struct session *session, nsec_t due_at, uint64_t seq);
struct job *session_lease_before(const struct session *session, nsec_t due_at, uint64_t seq);

#endif
