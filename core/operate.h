/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_OPERATE_H
#define TANDEM_CORE_OPERATE_H

// What an operator does to jobs, whoever holds them: to one by its id, or to all that fit a filter,
// in slices. What is done to a durable job is one record of the store; broker_position() says what
// the answer must wait for. Nobody is blamed: no attempt is spent. A holder that has lost its job
// is not told; its reports find no job that is its own (session_job_revoked() in session.h tells
// these from others).
//
// `by` is the session that asks, NULL the host itself, which may do everything.

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
    ACT_DELETE,  // gone, in any state; watchers are told JOB_EVENT_CANCELLED
    ACT_KICK,    // a buried or delayed job is ready, with all its attempts before it
    ACT_BURY,    // set aside, from any other state; one that is not durable fails instead
    ACT_RELEASE, // a held job is given back, ready or after a delay; a delayed one is ready, or is
                 // delayed anew
    ACT_TOUCH,   // the time to run of a held job starts anew
    ACT_CHANGE,  // other priority (any state; of a held job, when it comes back), other delay (of a
                 // ready or delayed job); its place among equals is kept
    ACT_MOVE     // to another queue, in the state in which it is, but not while it is held
};

struct act {
    enum act_kind kind;
    bool sets_pri; // BURY, RELEASE, CHANGE: `pri`; otherwise it is kept
    uint32_t pri;
    bool sets_delay;  // RELEASE (otherwise none), CHANGE: `delay_for`
    nsec_t delay_for; // 0: ready
    struct slice to;  // MOVE: name of the queue, which is made where there is none
    bool back; // MOVE: to the queue that a policy took it from (core/dead_letter.h), not `to`
};

// Does that to the job. STATUS_NOT_FOUND; STATUS_FORBIDDEN: it takes MAY_OPERATE on the queue of
// the job, and, to move it, MAY_SUBMIT on the other; STATUS_WRONG_STATE: that is not done to jobs
// in its state; STATUS_NO_SPACE. To move a job: STATUS_HELD while a worker holds it, and
// STATUS_NO_MEMORY, STATUS_TOO_MANY_QUEUES, STATUS_BAD_NAME, STATUS_TOO_LARGE of the other queue,
// but its limits, and a broker that drains, refuse nothing. To move it `back`: STATUS_WRONG_STATE
// where it has no past. Where it is not STATUS_OK, nothing has changed.
//
// A moved job keeps its id, age, contract and watchers, is the last one of the buried jobs there if
// it is buried, has its attempts anew and no past, and gives up its key where the other queue has a
// live job of that key. To the queue that it is in it is not moved: nothing happens.
enum status broker_act(struct broker *broker, struct session *by, uint64_t id,
                       const struct act *act) MUST_USE;

// The states of jobs that the act can be done to: JOB_IN() of each.
unsigned act_states(const struct act *act);

//
// Many jobs
//

#define JOB_IN(state) (1u << (state))
#define JOB_IN_ANY (JOB_IN(JOB_STATES) - 1)

// Which jobs: all of it must hold. JOB_FILTER_ALL lets all pass.
struct job_filter {
    unsigned states;                 // JOB_IN(JOB_READY) | ...; 0: those that a sweep is usual for
    nsec_t min_age_for, max_age_for; // since it was submitted
    uint32_t min_pri, max_pri;
    size_t min_body, max_body; // bytes
    struct slice contains;     // the body has these bytes in it; empty: any body
};
#define JOB_FILTER_ALL                                                                             \
    {                                                                                              \
        .max_age_for = NSEC_NEVER, .max_pri = UINT32_MAX, .max_body = SIZE_MAX                     \
    }

// Whether the job passes; its state counts where the filter names any. What its body contains is
// not looked at: that may take long, and is for a sweep.
bool job_fits(const struct broker *broker, const struct job *job, const struct job_filter *filter);

struct sweep_counts {
    uint64_t looked;    // jobs
    uint64_t done;      // that fit and were changed, or would be
    uint64_t held;      // that fit and were left, since a worker holds them
    uint64_t forbidden; // and since the caller may not
};

// How far a long body was searched: that of the job of this id.
struct body_search {
    uint64_t id, at; /* private */
};

// Where a sweep stands.
struct sweep_walk {
    uint64_t moment, id, seq, burial, session; /* private: what was next to come when it began */
    uint64_t leases, lease_session, lease_at, lease_seq;    /* private */
    uint64_t queue_came_at;                                 /* private */
    nsec_t last_due[2], began_at;                           /* private */
    struct job_cursor cursor;                               /* private */
    uint32_t order, session_place, queue_place, next_place; /* private */
    uint8_t states, queue_states, phase;                    /* private */
    bool takes_held, in_queue;                              /* private */
};

// One act done to all jobs of one queue or of many that fit. Fill in the first part, and begin;
// then step until that does not answer STATUS_MORE. It refers to nothing but the slices handed in,
// which must stay, and may be kept over any verb.
//
// Held jobs are met first, then the others queue by queue: ready ones as they would be taken,
// delayed ones as their delays end, those that were buried first before others. Only jobs are met
// that were there when it began; one that stands where it stood is met exactly once, and what was
// changed is not met again. Where the filter names no state, held jobs are left (and counted),
// ACT_RELEASE and ACT_TOUCH go to held jobs alone, and ACT_KICK goes to buried jobs, or where the
// queue has none, to delayed ones. Where jobs are moved back, those without a past are left.
struct sweep {
    struct slice queue;  // one queue by its name; empty: all whose names `queues` matches
    struct slice queues; // a glob (core/base/glob.h)
    struct job_filter filter;
    struct act act;
    uint64_t most; // so many are done at most; 0: any number
    bool dry;      // only counts

    struct sweep_counts counts; // so far
    uint64_t total;             // about how many there were to look at when it began

    struct sweep_walk walk;    /* private */
    struct body_search search; /* private */
};

// STATUS_FORBIDDEN: the caller may not operate that queue, or any where they are many, or not
// submit to the one that jobs are to be moved to, of whose name STATUS_BAD_NAME and
// STATUS_TOO_LARGE tell. STATUS_NOT_FOUND: there is no such queue.
enum status broker_sweep_begin(struct broker *broker, const struct session *by,
                               struct sweep *sweep) MUST_USE;

// Goes on, one slice. STATUS_OK: that was all; STATUS_MORE; STATUS_NO_SPACE: the store has no room
// for now, and the next step goes on with the same job; anything else as broker_act() says of a
// queue to which jobs are to be moved: it ends. What was done stays done. broker_position() is that
// of the slice.
enum status broker_sweep(struct broker *broker, struct session *by, struct sweep *sweep) MUST_USE;

#endif
