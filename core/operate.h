/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_OPERATE_H
#define TANDEM_CORE_OPERATE_H

// Acts of an operator on jobs, held or not: on one job by its id, or on all jobs that match a
// filter, in slices. An act on a durable job is one record of the store; the answer waits for
// broker_position(). No attempt is spent. A holder that loses its job is not told; its reports find
// no job of its own (session_job_revoked() in session.h distinguishes them from wrong reports).
//
// `by` is the session of the operator, NULL the host itself, which may do everything.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/job.h"
#include "core/status.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum act_kind {
    ACT_DELETE,  // ends the job, in any state; watchers are told JOB_EVENT_CANCELLED
    ACT_KICK,    // makes a buried or delayed job ready, with all its attempts
    ACT_BURY,    // buries it, from any other state; a job that is not durable fails instead
    ACT_RELEASE, // gives a held job back, ready or after a delay; makes a delayed one ready, or
                 // delays it again
    ACT_TOUCH,   // starts the time to run of a held job again
    ACT_CHANGE,  // sets the priority (any state; of a held job, when it comes back), or the delay
                 // (of a ready or delayed job); it keeps its place among equals
    ACT_MOVE     // moves it to another queue, in its present state, but not while it is held
};

struct job_act {
    enum act_kind kind;
    bool sets_pri; // BURY, RELEASE, CHANGE: to `pri`; otherwise it does not change
    uint32_t pri;
    bool sets_delay;  // RELEASE (otherwise none), CHANGE: `delay_for`
    nsec_t delay_for; // 0: ready
    struct slice to;  // MOVE: name of the queue, which is made if it is missing
    bool back;        // MOVE: a dead letter to the queue that it came from, instead of `to`
};

// Applies the act to the job. STATUS_NOT_FOUND; STATUS_FORBIDDEN: it needs MAY_OPERATE on the queue
// of the job, and, to move it, MAY_SUBMIT on the other; STATUS_WRONG_STATE: the act does not apply
// to the state of the job; STATUS_NO_SPACE. To move a job: STATUS_HELD while a worker holds it, and
// STATUS_NO_MEMORY, STATUS_TOO_MANY_QUEUES, STATUS_BAD_NAME, STATUS_TOO_LARGE for the other queue,
// whose limits, like a broker that drains, refuse nothing. To move it `back`: STATUS_WRONG_STATE if
// it is not a dead letter. After any other answer than STATUS_OK, nothing has changed.
//
// A moved job keeps its id, age, contract and watchers, and has all its attempts again. It is not a
// dead letter any more; if it is buried, it is the last of the buried jobs there; if the other
// queue has a live job of its key, it gives the key up. A move to its own queue changes nothing.
enum status broker_act(struct broker *broker, struct session *by, uint64_t id,
                       const struct job_act *act) MUST_USE;

// The states of jobs that the act can be done to: JOB_IN() of each.
unsigned act_states(const struct job_act *act);

//
// Many jobs
//

#define JOB_IN(state) (1u << (state))
#define JOB_IN_ANY (JOB_IN(JOB_STATES) - 1)

// A job matches if all conditions hold. JOB_FILTER_ALL matches all jobs.
struct job_filter {
    unsigned states;                 // JOB_IN(JOB_READY) | ...; 0: the default of the act
    nsec_t min_age_for, max_age_for; // since it was submitted
    uint32_t min_pri, max_pri;
    size_t min_body, max_body; // bytes
    struct slice contains;     // the body contains these bytes; empty: any body
};
#define JOB_FILTER_ALL                                                                             \
    {                                                                                              \
        .max_age_for = NSEC_NEVER, .max_pri = UINT32_MAX, .max_body = SIZE_MAX                     \
    }

struct sweep_counts {
    uint64_t looked;    // jobs that were looked at
    uint64_t done;      // jobs that matched and were changed, or would be
    uint64_t held;      // jobs that matched and were skipped because a worker holds them
    uint64_t forbidden; // ... because the caller has no right to them
};

// How far the body of the job of this id was searched.
struct body_search {
    uint64_t id, at; /* private */
};

// The position of a sweep.
struct sweep_walk {
    uint64_t moment, id, seq, burial, session; /* private: the next numbers when it began */
    uint64_t leases, lease_session, lease_at, lease_seq;    /* private */
    uint64_t queue_came_at;                                 /* private */
    nsec_t last_due[2], began_at;                           /* private */
    struct job_cursor cursor;                               /* private */
    uint32_t order, session_place, queue_place, next_place; /* private */
    uint8_t states, queue_states, phase;                    /* private */
    bool takes_held, in_queue;                              /* private */
};

// One act on all matching jobs of one queue or of many. Fill in the first part, and begin; then
// step until the answer is not STATUS_MORE. It refers to nothing but the slices handed in, which
// must stay valid, and may be kept over any verb.
//
// Held jobs come first, then the others queue by queue: ready ones in the order in which workers
// take them, delayed ones as their delays end, buried ones in the order of their burials. Only jobs
// that existed when it began are met; a job that keeps its place is met exactly once, and a changed
// job is not met again. If the filter names no state, held jobs are skipped (and counted), but
// ACT_RELEASE and ACT_TOUCH apply to held jobs alone, and ACT_KICK applies to buried jobs, or, in
// queues without any, to delayed ones. If jobs are moved back, only dead letters are.
struct sweep {
    struct slice queue;  // the name of one queue; empty: all queues whose names match `queues`
    struct slice queues; // a glob (core/base/glob.h)
    struct job_filter filter;
    struct job_act act;
    uint64_t most; // the most jobs to change; 0: no limit
    bool dry;      // only counts

    struct sweep_counts counts; // so far
    uint64_t total;             // about the number of jobs to look at when it began

    struct sweep_walk walk;    /* private */
    struct body_search search; /* private */
};

// STATUS_FORBIDDEN: the caller may not operate that queue, or any of several queues, or not submit
// to the target of a move, whose name may be STATUS_BAD_NAME or STATUS_TOO_LARGE. STATUS_NOT_FOUND:
// the queue is missing.
enum status broker_sweep_begin(struct broker *broker, const struct session *by,
                               struct sweep *sweep) MUST_USE;

// Continues for one slice. STATUS_OK: the end; STATUS_MORE; STATUS_NO_SPACE: the store has no room
// for now, and the next step continues with the same job; any other answer as broker_act() gives
// for the target of a move: the sweep ends. Changes that were made stay. broker_position() is that
// of the slice.
enum status broker_sweep(struct broker *broker, struct session *by, struct sweep *sweep) MUST_USE;

#endif
