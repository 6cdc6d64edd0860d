/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_LOOP_TURN_H
#define TANDEM_SERVER_CONN_LOOP_TURN_H

// The state that a loop and its connections share: the lists of connections by what they wait for,
// their deadlines, background tasks, and how much of its budget (net/budget.h) the present turn has
// used. A connection knows this and not the loop (server/loop.h), which carries out turns; the loop
// calls connections by conn.h and does not look inside them.

#include "core/base/list.h"
#include "core/base/nsec.h"
#include "core/base/tree.h"
#include "core/broker.h"
#include "proto_common/output.h"
#include "server/net/budget.h"

#include <event2/event.h>
#include <stdatomic.h>

struct conn;
struct fence;
struct io;
struct peer_limits;
struct rule_set;
struct throttle;
struct turn;

// Log events that very many clients may cause: at most one line of each per second.
enum limited_log {
    LIMITED_LOG_MEMORY,
    LIMITED_LOG_HANDSHAKE,
    LIMITED_LOG_TLS_HELLO,
    LIMITED_LOG_PROXY_HEAD,
    LIMITED_LOG_PROXY,
    LIMITED_LOG_CONNECTIONS,
    LIMITED_LOG_ADDRESS,
    LIMITED_LOG_TOKEN,
    LIMITED_LOG_TOKEN_DELAYED,
    LIMITED_LOG_MEMORY_SHORT,
    LIMITED_LOG_TOO_LARGE
};
#define LIMITED_LOGS 11

// A background task: work on jobs that does not depend on a connection, done in slices, at most one
// per turn. It is embedded in the state of its owner.
struct background_task {
    // Called in each turn; takes constant time. Returns when the next slice is due, monotonic:
    // NSEC_NEVER if none is.
    nsec_t (*due)(const void *context);
    // Does one slice. Like a feed, it may call verbs of the broker.
    void (*work)(void *context);
    void *context;
    // The task waits while the pressure of the store is higher, as clients do that submit jobs
    // (STORE_EASY) or end them (STORE_BEHIND).
    enum store_pressure most;
    bool for_operators;           // it works while only operators are served (turn->fenced)
    struct background_task *next; /* private: in turn->tasks */
};

// The place of a connection in the lists of a turn. It is a part of the connection; see conn_of().
struct turn_member {
    struct tree_node all;     // in turn->all
    struct list_node touched; // in at most one of the turn's other lists
};

// When a connection is to be called (conn_expire).
struct deadline {
    struct tree_node node; // in turn->deadlines, unless `at` is NSEC_NEVER
    nsec_t at;
    struct conn *conn;
};

// Walks over all connections, a slice in each turn (conn_registry_walk). A walk also meets the
// connections that begin meanwhile.
enum turn_walk {
    WALK_AUTHORIZE, // the access rules have changed
    WALK_REVIEW,    // a setting has changed
    WALK_EVICT      // memory is short
};
#define TURN_WALKS 3

struct turn {
    struct event_base *base;
    struct broker *broker;
    struct peer_limits *peer_limits; // NULL: connections are not counted by address
    struct io *io;                   // the I/O threads; NULL: the loop does everything
    struct output_pool pool;
    char *buffer; // CONN_JOIN_MAX + CONN_READ_MAX bytes, shared: in use only within one read
    uint64_t connections;   // so far
    _Atomic(uint64_t) open; // accepted sockets that are not closed; I/O threads count, too
    unsigned events;        // handled in this turn
    size_t bytes;           // received in this turn, and then sent
    bool spent;             // no more is received in this turn
    bool traces;            // commands of some client were logged by the previous settings
    nsec_t limited_logged_at[LIMITED_LOGS]; // see turn_may_log
    const char *log_commands;  // server.log_commands; NULL or empty: no commands are logged
    nsec_t commands_since;     // the second in which commands are being logged,
    uint64_t command_lines;    // its lines so far,
    uint64_t commands_unsaid;  // and how many commands were not logged since the last line
    nsec_t unread_for;         // a peer that reads no output for so long is dropped; 0: none is
    nsec_t woke_at;            // when the machine resumed last; 0: it was not suspended
    uint64_t kept_most;        // bytes that may be kept for one connection; 0: no limit
    struct rule_set *rules;    // the access rules in force; NULL: every client may do everything
    struct throttle *throttle; // of wrong tokens (access/throttle.h); NULL: there were none
    struct background_task *tasks;
    struct tree all;                     // members by number (conn.h)
    size_t members;                      // their number
    struct tree_node *walks[TURN_WALKS]; // the next member of each walk; NULL: it is over
    struct list_node touched;            // to be fed again, or to be finished in this turn
    struct list_node expensive;          // read and fed after the others (conn_is_expensive)
    struct list_node bulky;              // finished after the others (conn_is_bulky)
    struct list_node held;               // output waits for a position of the store
    struct list_node paused;             // not read while the store is under pressure
    enum store_pressure pressure;
    const struct fence *fence;   // until when output may be sent (store.h); NULL: always
    bool fenced;                 // that moment has come: only operators are served
    struct tree deadlines;       // by `at`
    struct instant (*now)(void); /* private */
    bool ticked;                 /* private: in this turn */
};

// Begins without connections. The turn owns `base` and `buffer`, which may be NULL: the caller
// handles that, and calls turn_clear() in any case.
void turn_init(struct turn *turn, struct event_base *base, char *buffer, struct broker *broker,
               struct instant (*now)(void));

// Frees its state. All connections must be closed, and no event may be in its base.
void turn_clear(struct turn *turn);

// Has these rules in force from now on, and owns the caller's reference; NULL: none. The clients
// that are connected are authorized again one after the other (WALK_AUTHORIZE).
void turn_set_rules(struct turn *turn, struct rule_set *rules);

// Begins a walk, or begins it again.
void turn_walk_begin(struct turn *turn, enum turn_walk walk);

static inline bool turn_walks(const struct turn *turn, enum turn_walk walk)
{
    return turn->walks[walk] != NULL;
}

// Resets the budget; the broker does not know the present time yet.
void turn_begin(struct turn *turn);

// Updates turn->fenced. Returns whether the fence is open. The turn has one.
bool turn_check_fence(struct turn *turn);

// Whether staged output may be sent now.
static inline bool turn_may_send(struct turn *turn)
{
    return !turn->fence || turn_check_fence(turn);
}

// Sets the broker's time, once in a turn. The callback of each event calls it before any verb.
static inline void turn_tick(struct turn *turn)
{
    if (!turn->ticked) {
        turn->ticked = true;
        (void)turn_may_send(turn);
        broker_tick(turn->broker, turn->now());
    }
}

// Counts the event of a connection, after turn_tick(). Ends the wait of the loop after
// TURN_CONNS_MAX events or TURN_INPUT_FOR; the other events come first in the next turn.
void turn_count_event(struct turn *turn);

// Counts bytes that were received or sent; ends the wait after TURN_BYTES_MAX.
void turn_count_bytes(struct turn *turn, size_t len);

// Whether the turn has lasted for that long. Looks at the clock once for TURN_CLOCK_EVERY
// connections, of which `count` were handled.
bool turn_lasted(const struct turn *turn, nsec_t lasts_for, unsigned count);

// Whether a line of that kind may be logged now.
bool turn_may_log(struct turn *turn, enum limited_log kind);

// Adds a task; not while a task works.
void turn_add_task(struct turn *turn, struct background_task *task);

// Removes a task, which need not have been added.
void turn_remove_task(struct turn *turn, const struct background_task *task);

// When the first task is due; NSEC_NEVER: none is.
nsec_t turn_tasks_due(const struct turn *turn);

// Does a slice of each task that is due.
void turn_run_tasks(const struct turn *turn);

// Which connections a turn calls, and in which order. Expensive connections are read and fed after
// the others, and bulky ones send after the others, so that a client with a small request waits for
// one or two of them and not for all. Neither class can starve the other: each has its own time in
// every turn, and at least one connection. Within a class, the connection that has waited longest
// comes first.

// Moves the connections that have been touched for longest to `batch`, which has `count` already;
// returns its new count.
unsigned turn_take_touched(struct turn *turn, struct list_node *batch, unsigned count);

// Feeds the connections of the batch that can go on, each once; then reads or feeds some expensive
// ones. Moves them to `ran`; those for which there is no time stay in `batch`.
void turn_run(struct turn *turn, struct list_node *batch, struct list_node *ran);

// Finishes the connections of both lists, which are empty then, within the budget; the others come
// first in the next turn. Those that ran are finished first. So the connection that came first of
// all was run and finished, however long either took, and comes last in the next turn: no
// connection is passed over for ever. In the next turn, connections that did not run come first.
void turn_finish(struct turn *turn, struct list_node *ran, struct list_node *batch);

#endif
