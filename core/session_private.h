/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_SESSION_PRIVATE_H
#define TANDEM_CORE_SESSION_PRIVATE_H

// Private to the core: one connected party, what it takes jobs from, holds, watches and waits for.
//
// A session waits for a job, for a nudge (a hint that there may be a job), or for nothing. While it
// waits, each of its subscriptions that is not barred is linked in its queue's list `job_waits` or
// `nudge_waits`; where there are very many, these links are made and undone in slices
// (session_private.h). A wait that has been given a job is over, even before the session is told:
// `assigned` keeps the job until then.

#include "core/base/list.h"
#include "core/base/memory.h"
#include "core/base/tree.h"
#include "core/broker.h"
#include "core/queue_private.h"

#include <stdint.h>

enum wait_state { WAITING_NOT, WAITING_FOR_JOB, WAITING_FOR_NUDGE };

#define MARGIN_NONE UINT32_MAX

// Where a subscription stands in the rota.
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
    uint64_t idle : 1;          // in turn: its queue had nothing when it was looked at
    uint64_t fail_on_limit : 1; // terms.on_limit
    uint64_t
        barred : 1;    // the session's caller may not have it (session_private.h): it gives nothing
    uint32_t queue;    // place in the broker's table
    uint32_t limit_ms; // terms.limit_for; 0: none
    union round_robin_place in_round_robin[]; // one, where the session chooses in turn
};

_Static_assert(sizeof(struct subscription) == 72, "an idle connection is kept small");

#define SUBSCRIPTION_TURN_MAX (UINT64_MAX >> 3)

// The subscriptions of a session that chooses in turn.
struct round_robin {
    struct tree tree; // by turn
    struct list_node idle;
    size_t idle_count;
    uint64_t seen; // of the openings of queues: up to here, idle ones were brought back
};

// There may be very many sessions that do nothing: what only some need is behind pointers.
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
    // Of its links in lists of queues, each of these says more than that they are there.
    bool closed : 1;
    bool unlinking : 1; // they are of a wait that is over (session_private.h)
    bool judging : 1;   // `grants` are new: subscriptions are still barred by those before

    bool holds_nudge : 1;   // a queue nudged it, and perhaps nobody else
    bool nudged : 1;        // to be told
    bool waited_enough : 1; // to be told, with `why`
    bool emptied : 1;       // to be told, if it holds no job by then
    bool producer : 1;      // it has submitted a job
    bool worker : 1;        // it has asked for one
    bool undelivered : 1;   // closing: it has not been told of any job that it holds
    bool wide : 1;          // it has that part of `extra`; so has one that has more than
                            // LINKS_IN_SLICE subscriptions (charge.h)
    uint8_t why : 1;        // enum wait_end

    struct list_node subscribed; // struct subscription
    struct tree by_queue;
    struct tree leases;    // struct job
    struct grants *grants; // what its caller may do; NULL: everything. A reference
    struct session_extra *extra;
    struct job *assigned; // held, but not told of yet
    struct list_node
        notice;         // in broker->telling.sessions, matching.to_serve, or, when closed, closing
    struct timer alarm; // in broker->timers.sessions: the first lease or the wait ends
    nsec_t until;       // WAITING_FOR_JOB
    struct round_robin round_robin[]; // one, where it chooses in turn
};

_Static_assert(sizeof(struct session) == 184, "an idle connection is kept small");

// What a session needs beside that whose subscriptions are too many for one slice.
struct session_wide {
    struct session *session;
    struct list_node relinking;       // in broker->matching.relinking
    struct subscription_walk linking; // which link is made, or undone, next
    struct subscription_walk judging; // whose queue is compared with the new grants next
    bool lost;                        // `judging`: one of those gave something before
};

// What only some sessions have; made when it is first needed.
struct session_extra {
    struct list_node watches; // struct watch
    size_t watch_count;
    struct list_node walks;  // struct subscription_walk
    struct job_extra *spare; // so that a limit on a lease finds its room
    nsec_t walked_due_at;    // how far session_walk_leases() has come; 0: no walk is under way
    uint64_t walked_seq;
    uint64_t *revoked;      // ids of jobs that were taken away (session_private.h)
    uint32_t revoked_count; // of them
    uint32_t revoked_room;
    uint32_t revoked_oldest;    // where all the room is used: which is forgotten next
    uint32_t barred;            // how many subscriptions are
    struct session_wide wide[]; // one, where the session is wide
};

_Static_assert(sizeof(struct session_extra) == 88, "each client that waits for a result has one");

// The session's extra part, made where there is none yet; NULL without memory.
struct session_extra *session_extra(struct session *session);

// The part of a wide session, likewise.
struct session_wide *session_wide(struct session *session);

// Whether links of its subscriptions are still to be made or undone.
static inline bool session_relinks(const struct session *session)
{
    return session->wide && list_linked(&session->extra->wide->relinking);
}

// The session is to be told something by broker_settle().
void session_notify(struct session *session);

// It submits a job, or asks for one, for the first time.
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

// A lease or the wait has changed: sets the alarm anew.
void session_rearm(struct session *session);

// Is the end of a lease of the session no further away than `margin_ms`?
bool session_lease_ends_soon(const struct session *session);

// Frees a session that is closed and has nothing left.
void session_free(struct session *session);

// Private to the core: what the caller of a session may do (core/grants.h), as verbs ask it.
//
// A subscription that the caller may not have is barred: it stays in the session, but is passed
// over where the session chooses, and not linked in its queue while the session waits.

// Of a session that has grants.
bool caller_has_right(const struct session *session, enum right right, const struct queue *queue);

// session_may(), for verbs that are called for each job.
static inline bool caller_may(const struct session *session, enum right right,
                              const struct queue *queue)
{
    return !session || !session->grants || caller_has_right(session, right, queue);
}

// Why that may not be done to the job by the session, NULL for the host; STATUS_OK: it may. NULL is
// a job that is not there; whoever may not observe one is not told that it is.
enum status session_check_job(const struct session *by, enum right right, const struct job *job);

// Whether it is subscribed, and may not work on any of those queues.
bool session_is_barred(const struct session *session);

// Private to the core: how a session begins and stops to wait. While it waits for a job, each of
// its subscriptions that is not barred stands in its queue's list `job_waits`, while it waits for a
// nudge, in the list `nudge_waits`. Each link that is made or undone is charged (charge.h).
//
// Where a session has more than LINKS_IN_SLICE subscriptions, one slice of the links is made at
// once and the others in the ticks that follow: as far as it is not linked yet, it waits behind
// those that are, and what is ready there comes to it when it is. When its wait is over, the links
// are undone in the ticks that follow, too. Until then the session is `unlinking`: a link that
// somebody comes across counts for nothing and is undone then. A session that begins another wait
// meanwhile has none of its links before all of those are gone. All links are charged when the wait
// begins, and none when it ends.

// The session waits from now on.
void session_begin_waiting(struct session *session, enum wait_state wait_state);

// Ends a wait, without a word. `until` and `margin_ms` stay, should it wait again.
void session_stop_waiting(struct session *session);

// The subscription waits along with its session, which waits, where that is not left to a slice.
void subscription_wait_along(struct subscription *subscription);

// Makes and undoes links of wide sessions: a slice.
void waiting_relink(struct broker *broker);

// The session has fewer subscriptions than before: where these are not too many any more, nothing
// is left to slices.
void waiting_review(struct session *session);

// The session closes: its links are undone as its subscriptions end.
void waiting_leave(struct session *session);

// A lease may get a limit when it is assigned, which is no moment to ask for memory. False without.
bool session_make_spare(struct session *session) MUST_USE;

// Private to the core: the jobs that an operator has taken away from a session that held them, by
// their ids. A worker is not told of that, and reports about such a job until it is done with it;
// a session whose front-end passes over these reports (session_ops.ignores_revoked) remembers
// for which jobs it must. What is remembered is a service to the worker: without memory, and where
// REVOKED_MAX jobs are remembered already, the oldest are forgotten, and the worker is told that
// there is no such job.

#define REVOKED_MAX 1024

// The job is about to be taken away from its holder. Nothing where no session holds it.
void revoked_note(struct broker *broker, const struct job *job);

// Frees what the session remembers.
static inline void revoked_free(struct session_extra *extra)
{
    memory_free(extra->revoked, extra->revoked_room * sizeof *extra->revoked);
}

#endif
