/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_SESSION_PRIVATE_H
#define TANDEM_CORE_SESSION_PRIVATE_H

// Private to the core: a session with its subscriptions, leases, watches and its wait; the rights
// of its caller; and the jobs that an operator has revoked.
//
// A session waits for a job, for a nudge (a hint that there may be a job), or for nothing. While it
// waits, each of its subscriptions that is not barred is linked in its queue's list `job_waits` or
// `nudge_waits`. A wait that was assigned a job is over, even before the session is told: until
// then, `assigned` is that job.

#include "core/base/list.h"
#include "core/base/memory.h"
#include "core/base/tree.h"
#include "core/broker.h"
#include "core/queue_private.h"

#include <stdint.h>

enum wait_state { WAITING_NOT, WAITING_FOR_JOB, WAITING_FOR_NUDGE };

#define MARGIN_NONE UINT32_MAX

// The place of a subscription in the round robin of its session.
union round_robin_place {
    struct tree_node tree;
    struct list_node idle;
};

struct subscription {
    struct session *session;
    struct list_node in_session; // in order of subscription
    struct tree_node by_queue;
    struct list_node waiting;   // in queue->job_waits or queue->nudge_waits
    uint64_t turn : 61;         // in turn: the lowest is served first
    uint64_t idle : 1;          // in turn: its queue had no job when it was visited
    uint64_t fail_on_limit : 1; // terms.on_limit
    uint64_t barred : 1;        // the session's caller has no right to its queue: it gives no jobs
    uint32_t queue;             // place in the broker's table
    uint32_t limit_ms;          // terms.limit_for; 0: none
    union round_robin_place in_round_robin[]; // one, if the session chooses in turn
};

_Static_assert(sizeof(struct subscription) == 72, "an idle connection is kept small");

#define SUBSCRIPTION_TURN_MAX (UINT64_MAX >> 3)

// The subscriptions of a session that chooses in turn.
struct round_robin {
    struct tree tree; // by turn
    struct list_node idle;
    size_t idle_count;
    uint64_t seen; // the last opening of a queue for which idle ones were woken
};

// Idle sessions are common, so that rarely used state is behind pointers.
struct session {
    struct broker *broker;
    const struct session_ops *ops;
    void *owner;
    uint64_t number; // never used twice
    uint32_t place;  // in the broker's table
    uint32_t subscriptions;
    uint32_t lease_count;
    uint32_t limited; // subscriptions with a limit
    union {
        uint32_t margin_ms; // WAITING_FOR_JOB; MARGIN_NONE: no warning
        uint32_t nudged_by; // `holds_nudge`: the place of the queue
    };
    uint8_t choice;     // enum choice
    uint8_t wait_state; // enum wait_state
    // The state of its links in the lists of queues.
    bool closed : 1;
    bool unlinking : 1; // they belong to a wait that is over
    bool judging : 1;   // `grants` are new: some subscriptions are barred by the old ones

    bool holds_nudge : 1;   // a queue nudged it, and perhaps no other session
    bool nudged : 1;        // to be told
    bool waited_enough : 1; // to be told, with `why`
    bool emptied : 1;       // to be told, if it holds no job by then
    bool producer : 1;      // it has submitted a job
    bool worker : 1;        // it has asked for a job
    bool undelivered : 1;   // closing: it has not been told of any job that it holds
    bool wide : 1;          // `extra` has a wide part, as it must with more than LINKS_IN_SLICE
                            // subscriptions (charge.h)
    uint8_t why : 1;        // enum wait_end

    struct list_node subscribed; // struct subscription
    struct tree by_queue;
    struct tree leases;    // struct job
    struct grants *grants; // of its caller; NULL: everything is allowed. A reference
    struct session_extra *extra;
    struct job *assigned; // held, but not told of yet
    struct list_node
        notice;         // in broker->telling.sessions, matching.to_serve, or, when closed, closing
    struct timer alarm; // in broker->timers.sessions: the end of the first lease or of the wait
    nsec_t until;       // WAITING_FOR_JOB
    struct round_robin round_robin[]; // one, if it chooses in turn
};

_Static_assert(sizeof(struct session) == 184, "an idle connection is kept small");

// The additional state of a session with more subscriptions than a slice handles.
struct session_wide {
    struct session *session;
    struct list_node relinking;       // in broker->matching.relinking
    struct subscription_walk linking; // the next link to make, or to undo
    struct subscription_walk judging; // the next queue to compare with the new grants
    bool lost;                        // `judging`: a barred one had jobs to give before
};

// The rarely used state, allocated when it is first needed.
struct session_extra {
    struct list_node watches; // struct watch
    size_t watch_count;
    struct list_node walks;  // struct subscription_walk
    struct job_extra *spare; // memory for the limit of a lease
    nsec_t walked_due_at;    // position of session_walk_leases(); 0: no walk
    uint64_t walked_seq;
    uint64_t *revoked;      // ids of jobs that an operator revoked
    uint32_t revoked_count; // of them
    uint32_t revoked_room;
    uint32_t revoked_oldest;    // if all the room is used: the next one to forget
    uint32_t barred;            // of the subscriptions
    struct session_wide wide[]; // one, if the session is wide
};

_Static_assert(sizeof(struct session_extra) == 88, "each client that waits for a result has one");

// The session's extra part, made if it is missing; NULL without memory.
struct session_extra *session_extra(struct session *session);

// Its wide part, likewise.
struct session_wide *session_wide(struct session *session);

// True if links of its subscriptions are still to be made or undone.
static inline bool session_relinks(const struct session *session)
{
    return session->wide && list_linked(&session->extra->wide->relinking);
}

// Has broker_settle() visit the session.
void session_notify(struct session *session);

// Called when it submits a job, or asks for one, for the first time.
void session_begin_producer(struct session *session);
void session_begin_worker(struct session *session);

static inline void session_submits(struct session *session)
{
    if (!session->producer) {
        session_begin_producer(session);
    }
}

static inline void session_works(struct session *session)
{
    if (!session->worker) {
        session_begin_worker(session);
    }
}

// Sets the alarm after a change of a lease or the wait.
void session_rearm(struct session *session);

// True if a lease of the session ends within `margin_ms`.
bool session_lease_ends_soon(const struct session *session);

// Frees a closed session without subscriptions, leases and watches.
void session_free(struct session *session);

//
// The rights of the caller (core/grants.h). A subscription is barred while the caller has no right
// to its queue: it stays in the session, but the session does not choose it, and it is not linked
// while the session waits.
//

// For a session that has grants.
bool caller_has_right(const struct session *session, enum right right, const struct queue *queue);

// session_may(), for verbs that are called for each job.
static inline bool caller_may(const struct session *session, enum right right,
                              const struct queue *queue)
{
    return !session || !session->grants || caller_has_right(session, right, queue);
}

// STATUS_OK if the session, or the host (NULL), has the right on the job's queue; else
// STATUS_FORBIDDEN, or, if it may not even observe the job, STATUS_NOT_FOUND, as for a NULL job.
enum status session_check_job(const struct session *by, enum right right, const struct job *job);

// True if it has subscriptions, and all of them are barred.
bool session_is_barred(const struct session *session);

//
// Waits. Each link that is made or undone is charged (charge.h).
//
// A session with more than LINKS_IN_SLICE subscriptions makes one slice of its links at once and
// the others in the next ticks: in the queues to which it is not linked yet it has no place before
// it is, and it gets their ready jobs when it is. After its wait, the links are undone in the next
// ticks, too. Until then the session is `unlinking`: a link that is met does not count, and is
// undone. If another wait begins meanwhile, its links are made when all old ones are gone. All
// links are charged when the wait begins, and none when it ends.
//

void session_begin_waiting(struct session *session, enum wait_state wait_state);

// Ends a wait without a callback. `until` and `margin_ms` stay, in case it waits again.
void session_stop_waiting(struct session *session);

// Links a subscription of a waiting session, unless a tick will do that.
void subscription_wait_along(struct subscription *subscription);

// Makes and undoes a slice of the links of wide sessions.
void waiting_relink(struct broker *broker);

// Called when the session has fewer subscriptions than before: if a slice handles all of them now,
// it finishes the pending links.
void waiting_review(struct session *session);

// The session closes: ending its subscriptions undoes its links.
void waiting_leave(struct session *session);

// Allocates the memory for the limit that a lease may get when it is assigned. False without
// memory.
bool session_make_spare(struct session *session) MUST_USE;

//
// Revoked jobs: the ids of the jobs that an operator has taken from the session. The worker is not
// told, and reports about such a job until it is done with it; a front-end that ignores these
// reports (session_ops.ignores_revoked) must know the ids. Without memory, or beyond REVOKED_MAX,
// the oldest ids are forgotten, and the worker is told that the job is not found.
//

#define REVOKED_MAX 1024

// Called before a job is taken from its holder. Nothing happens if it is not held.
void revoked_note(struct broker *broker, const struct job *job);

// Frees the list of ids.
static inline void revoked_free(struct session_extra *extra)
{
    memory_free(extra->revoked, extra->revoked_room * sizeof *extra->revoked);
}

#endif
