/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MODEL_STATES_H
#define TANDEM_CORE_MODEL_STATES_H

// Private to the core: the change of a job's state. Only these functions touch the containers that
// jobs stand in (job.h says which), so that the counts beside them stay true.
//
// A state change knows containers and counts and nothing that uses them: it matches no job with a
// session, ends no key and frees nothing. Where a session loses a job that it was assigned but has
// not been told of, it is put into broker->matching.to_serve: the verb that made the change serves
// these sessions before it returns (match_serve_lost() in match.h).

#include "core/model/job.h"

// Where a job goes, and what it has there.
struct job_place {
    enum job_state state; // not JOB_GONE
    uint32_t pri;
    bool to_back;           // draws a new place among equals
    nsec_t due_at;          // DELAYED, RESERVED
    bool on_wall;           // DELAYED
    struct session *holder; // RESERVED
    uint64_t last_holder;   // READY
    uint64_t burial;        // BURIED: 0: after all others
};

// Puts a new job into the index by id and into its place.
void job_begin(struct broker *broker, struct job *job, const struct job_place *to);

// Moves a job from one state to another, or to another place of the same state.
void job_move(struct broker *broker, struct job *job, const struct job_place *to);

// Takes a job out of its place and out of the index by id, for good.
void job_leave(struct broker *broker, struct job *job);

// The place in the state READY that changes nothing else about the job.
struct job_place job_ready_place(const struct job *job);

// The first lease of the session that comes after that moment and place; NULL for none.
struct job *session_lease_after(const struct session *session, nsec_t due_at, uint64_t seq);

#endif
