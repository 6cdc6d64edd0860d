/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_TURN_H
#define TANDEM_SERVER_TURN_H

// What a loop and its connections share: the lists in which connections say what they wait for, the
// moments at which they want to be called, and what the present turn has used of its budget
// (budget.h). A connection knows this and not the loop (loop.h), which carries turns out; the loop
// calls connections, and does not look inside them (conn.h).

#include "core/base/list.h"
#include "core/base/tree.h"
#include "core/broker.h"
#include "proto_common/output.h"
#include "server/complaint.h"
#include "server/net/budget.h"
#include "server/store.h"

#include <event2/event.h>
#include <stdatomic.h>

struct chore;
struct conn;
struct fence;
struct io;
struct crowd;
struct rules;
struct service;
struct throttle;

// A connection's place in a turn's lists; a part of the connection, which conn_of() finds.
struct turn_member {
    struct tree_node all;     // in turn->all
    struct list_node touched; // in one of the turn's other lists, or in none
};

// A moment at which a connection wants to be called (conn_expire).
struct deadline {
    struct tree_node node; // in turn->deadlines, unless `at` is NSEC_NEVER
    nsec_t at;
    struct conn *conn;
};

// Walks over all connections, a slice in a turn (roster_walk). Who comes meanwhile is met, too.
enum turn_walk {
    WALK_JUDGE,  // rules are others: what may each do?
    WALK_REVIEW, // a setting is another one: what does that mean to each?
    WALK_SHED    // memory is short: what does each hold?
};
#define TURN_WALKS 3

struct turn {
    struct event_base *base;
    struct broker *broker;
    struct crowd *crowd; // how many there are of each address; NULL: nobody counts
    struct io *io;       // the I/O threads; NULL: the loop does everything
    struct output_pool pool;
    char *buffer; // CONN_JOIN_MAX + CONN_READ_MAX bytes, shared: in use only within one read
    uint64_t connections;   // that there were so far
    _Atomic(uint64_t) open; // sockets that were accepted and are not closed; counted by
                            // I/O threads, too
    unsigned events;        // handled in this turn
    size_t bytes;           // received in this turn, and then sent
    bool spent;             // what else there is to receive waits for the next turn
    bool traces;            // somebody's commands were logged until the settings were read
    nsec_t complained_at[COMPLAINTS]; // when each was last logged; see turn_may_complain
    const char *log_commands; // server.log_commands; NULL or empty: nobody's commands are logged
    nsec_t commands_since;    // the second in which commands are being logged,
    uint64_t command_lines;   // how many lines there were in it,
    uint64_t commands_unsaid; // and how many commands no line has told of
    nsec_t unread_for;   // a peer that takes none of its output for so long is dropped; 0: none is
    nsec_t woke_at;      // when the machine was resumed last; 0: it was not suspended
    uint64_t kept_most;  // bytes: what a connection may keep before it is dropped for not reading
                         // more; 0: any amount
    struct rules *rules; // that are in force (rules.h); NULL: whoever comes may do everything
    struct throttle *throttle; // of wrong tokens (access/throttle.h); NULL: there were none
    struct chore *chores;      // what is done in the background (chores.h)
    struct tree all;           // members (roster.h)
    size_t members;            // how many
    struct tree_node *walks[TURN_WALKS]; // how far each has come in them: the next; NULL: it rests
    struct list_node touched; // those to be fed again, or to be looked at when the turn ends
    struct list_node dear;    // those to be read or fed when others have been (conn_is_dear)
    struct list_node bulky;   // those to send when others have (conn_is_bulky)
    struct list_node held;    // those that wait for the store to reach a position
    struct list_node paused;  // those that are not read until the store is at ease
    enum store_pressure pressure;
    const struct fence *fence;   // until when answers may leave (store.h); NULL: for ever
    bool fenced;                 // that moment has come, and nobody is served but who administers
    struct tree deadlines;       // by `at`
    struct instant (*now)(void); /* private */
    bool ticked;                 /* private: in this turn */
};

// Starts without a connection. `base` and `buffer` become the turn's. They may be NULL where they
// could not be had, which is for the caller to see; turn_clear() is to be called in any case.
void turn_init(struct turn *turn, struct event_base *base, char *buffer, struct broker *broker,
               struct instant (*now)(void));

// Frees what it has. No connection is there any more, and no event in its base.
void turn_clear(struct turn *turn);

// From now on these rules are in force, a reference to which becomes the turn's; NULL: none are.
// The callers of those that are connected are judged anew one after the other (WALK_JUDGE).
void turn_set_rules(struct turn *turn, struct rules *rules);

// Begins a walk, be it under way or not.
void turn_walk_begin(struct turn *turn, enum turn_walk walk);

static inline bool turn_walks(const struct turn *turn, enum turn_walk walk)
{
    return turn->walks[walk] != NULL;
}

// Nothing is used up yet, and the broker has not been told of the present.
void turn_begin(struct turn *turn);

// Has the fence, where there is one, looked at; false where it is closed, which turn->fenced then
// says, too.
bool turn_look_at_fence(struct turn *turn);

// Whether what is staged may leave at this moment.
static inline bool turn_may_send(struct turn *turn)
{
    return !turn->fence || turn_look_at_fence(turn);
}

// Must be called by an event's callback before it calls a verb: sets the broker's present, once in
// a turn.
static inline void turn_tick(struct turn *turn)
{
    if (!turn->ticked) {
        turn->ticked = true;
        (void)turn_may_send(turn);
        broker_tick(turn->broker, turn->now());
    }
}

// Must be called by the callback of a connection's event, after turn_tick(): ends the wait when
// there were TURN_CONNS_MAX, or the turn has lasted long. The others that are ready come first in
// the next turn.
void turn_count_event(struct turn *turn);

// The same for bytes that were received or sent.
void turn_count_bytes(struct turn *turn, size_t len);

// Whether the turn has lasted so long that what comes after `count` connections has to wait.
bool turn_lasted(const struct turn *turn, nsec_t lasts_for, unsigned count);

// Whether it may be logged: one line of each kind a second, for there may be as many as there are
// clients that try again.
bool turn_may_complain(struct turn *turn, enum complaint complaint);

#endif
