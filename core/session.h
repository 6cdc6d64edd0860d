/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_SESSION_H
#define TANDEM_CORE_SESSION_H

// Private to the core: one connected party, what it takes jobs from, holds, watches and waits for.
//
// A session waits (for a job), naps (for a hint), or neither. While it does, each of its
// subscriptions is linked in its queue's list `waits` or `naps`. A wait that has been given a job
// is over, even before the session is told: `assigned` keeps the job until then.

#include "core/broker.h"
#include "core/list.h"
#include "core/queue.h"
#include "core/tree.h"

#include <stdint.h>

enum pose { POSE_AWAKE, POSE_WAITING, POSE_NAPPING };

struct subscription {
    struct session *session;
    struct queue *queue;
    struct list_node in_session; // in order of subscription
    struct tree_node by_queue;
    struct list_node waiting; // in queue->waits or queue->naps
    uint64_t turn;            // when this session was last served from it, or subscribed
    struct terms terms;
    nsec_t given_due_at; // how far its leases have been given back
    uint64_t given_seq;
};

struct session {
    struct broker *broker;
    const struct session_ops *ops;
    void *owner;
    uint64_t number; // never used twice
    uint32_t place;  // in the broker's table
    uint32_t subscriptions;
    uint32_t limited; // subscriptions with a limit
    uint8_t choice;   // enum choice
    uint8_t pose;     // enum pose
    bool closed;
    bool nudged;        // to be told
    bool waited_enough; // to be told, with `why`
    uint8_t why;        // enum wait_end

    struct list_node subscribed; // struct subscription
    struct tree by_queue;
    struct tree leases; // struct job
    size_t lease_count;
    struct list_node watches; // struct watch

    nsec_t until;        // POSE_WAITING
    nsec_t margin_for;   // POSE_WAITING; negative: none
    struct moment alarm; // in broker->alarms: the first lease or the wait ends

    struct job *assigned;    // held, but not told of yet
    struct job_extra *spare; // so that a limit on a lease finds its room
    struct list_node notice; // in broker->notices, or in broker->closing once it is closed
};

// The session is to be told something by broker_settle().
void session_notify(struct session *session);

// A lease or the wait has changed: sets the alarm anew.
void session_rearm(struct session *session);

// Ends a wait or a nap, without a word. `until` and `margin_for` stay, for session_wait_on().
void session_wake(struct session *session);

// The job that was assigned, but not told of, is gone: the session waits on, or gets another.
void session_wait_on(struct session *session);

// Is the end of a lease of the session no further away than the margin (negative: never)?
bool session_lease_ends_soon(const struct session *session, nsec_t margin_for);

struct subscription *session_find(const struct session *session, const struct queue *queue);

// Ends a subscription; leases are not touched. Its queue may vanish with it.
void subscription_end(struct subscription *subscription);

// The first lease of the session that comes after that moment and place; NULL for none.
struct job *session_lease_after(const struct session *session, nsec_t due_at, uint64_t seq);

// Takes watches, leases and subscriptions of a closed session apart, at most `*budget` of them, and
// frees it when nothing is left.
void session_dismantle(struct session *session, unsigned *budget);

#endif
