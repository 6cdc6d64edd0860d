/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_H
#define TANDEM_SERVER_CONN_H

// A connection: a socket on one side, a front-end's state on the other. Its input is fed as it
// comes, and what the front-end cannot use yet is kept; its output is sent once, when the turn
// ends. Order within a connection is the order of its bytes.
//
// What a connection waits for follows from its state and is worked out in one place, at the end of
// each turn that touched it (conn_end_turn). What bounds it:
// - it parses CONN_BUDGET commands, and fewer where their answers are longer than FEED_STAGED_MAX,
//   reads once and sends CONN_FLUSH_MAX in a turn;
// - while its front-end is blocked, input is kept up to CONN_INPUT_MAX, then the socket is not read
//   (but watched for the peer's going);
// - while more than CONN_OUTPUT_MAX of output waits for the peer, nothing is read or fed until half
//   of that has left;
// - a peer that takes none of its output for loop->unread_for is dropped (what the store holds back
//   is not counted);
// - while the store is behind or stuck (loop.h), nothing is read or fed for which it has no room;
// - what a front-end leaves unused while it says FEED_MORE is not bounded here: it must not leave
//   more than one incomplete command.

#include "proto_common/frontend.h"
#include "core/base/list.h"
#include "core/base/tree.h"
#include "server/input.h"
#include "server/loop.h"
#include "server/transport.h"

#include <stdalign.h>

#define CONN_BUDGET 256
#define CONN_INPUT_MAX ((size_t)64 * 1024)
#define CONN_OUTPUT_MAX ((size_t)1024 * 1024)
#define CONN_FLUSH_MAX ((size_t)256 * 1024)

_Static_assert(CONN_INPUT_MAX <= LOOP_READ_MAX, "what may be kept is read at once");

// A protocol at work in this process: who new connections belong to.
struct service {
    const struct frontend *frontend;
    void *shared;                      // the state that its connections share
    const struct transport *transport; // of all its connections
    struct loop *loop;
};

// The moment at which a connection's front-end wants to be told, or its peer has not read for too
// long.
struct deadline {
    struct tree_node node; // in loop->deadlines, unless `at` is NSEC_NEVER
    nsec_t at;             // the earlier of the two
    nsec_t stuck_at;       // when it is dropped for not reading; NSEC_NEVER while it reads
    struct conn *conn;
};

// There may be very many that do nothing: what only some have is a pointer here.
struct conn {
    struct wire wire;
    const struct service *service;
    int fd;
    uint8_t state;     // enum feed_state, as of the last feed
    bool runs : 1;     // can be fed without new input: it is fed in the next turn
    bool woken : 1;    // since the last feed
    bool readable : 1; // there may be something to read
    bool reported : 1; // an event said so, and no read has followed
    bool untried : 1; // the transport was drained: whether a reset is behind that, the next send or
                      // read will tell
    bool closed : 1;  // by the peer: the end follows what is still to be read
    bool told : 1;    // the front-end knows that the peer's input ends
    bool ended : 1;   // and all of it has been read
    bool choked : 1;  // too much output waits
    bool broken : 1;  // to be closed at once
    bool shut : 1;    // the peer is to be told that nothing more comes
    bool parked : 1;  // `touched` stands in loop->held or loop->paused, or stood there until it was
                      // moved with all the others
    bool watched : 1; // `event` is added
    bool for_room : 1; // and reports when the socket takes output again
    struct event event;
    struct list_node all;      // in loop->all
    struct list_node touched;  // in one of the loop's other lists, or in none
    struct deadline *deadline; // made when it is first wanted
    struct input input;
    char *into; // where the front-end wants the next bytes, or NULL
    size_t into_len;
    alignas(uint64_t) char frontend_state[]; // and behind that the transport's
};

// Begins a connection on `fd`, which is not blocking and is owned from now on: where there is no
// memory, or the front-end refuses, it is closed and the log says so. `peer` is for the log.
void conn_open(const struct service *service, int fd, const char *peer);

// Feeds input that is kept, or none, if the front-end can go on.
void conn_run(struct conn *conn);

// The moment that the front-end asked for has come, or the peer has not read for too long.
void conn_expire(struct conn *conn);

// Reads and parses no more, and closes when the output has left.
void conn_finish(struct conn *conn);

// The same because the process is about to stop, which the front-end is told before.
void conn_go(struct conn *conn);

// Sends what is staged, and closes the connection or sets what it waits for now.
void conn_end_turn(struct conn *conn);

// It failed: logs why, and has it closed when the turn ends.
void conn_break(struct conn *conn, const char *why);

// Closes at once. The connection is not valid afterwards.
void conn_close(struct conn *conn);

// How many bytes of a connection its front-end's state takes, so that what follows is aligned.
static inline size_t conn_frontend_room(const struct service *service)
{
    return (service->frontend->conn_size + 7) & ~(size_t)7;
}

// The transport's own state of the connection.
static inline void *conn_transport_state(const struct conn *conn)
{
    return (char *)(uintptr_t)conn->frontend_state + conn_frontend_room(conn->service);
}

static inline struct deadline *deadline_of(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct deadline, node);
}

static inline struct loop *conn_loop(const struct conn *conn)
{
    return conn->service->loop;
}

// Whether it has output that the store must make safe before it leaves.
static inline bool conn_is_held(const struct conn *conn)
{
    return output_sendable(&conn->wire.out) < output_pending(&conn->wire.out);
}

// The parts below are shared between the sources of the connection only.

// Has the connection looked at when the turn ends.
void conn_touch(struct conn *conn);

// Whether there is something to read that can be used now.
bool conn_may_read(const struct conn *conn);

// One read, and what follows from it.
void conn_read(struct conn *conn);

// Notices what happened to the socket while nothing is read: an error, or the peer sends nothing
// more.
void conn_notice(struct conn *conn);

// Whether the store cannot take what might come of its input.
static inline bool conn_is_paused(const struct conn *conn)
{
    enum store_pressure pressure = conn_loop(conn)->pressure;

    return pressure == STORE_STUCK || (pressure == STORE_BEHIND && conn->wire.submits);
}

// Has it fed in the next turn if its front-end can go on without new input.
void conn_want_run(struct conn *conn);

// Sends as much as the peer takes, and no more than CONN_FLUSH_MAX in one turn.
void conn_flush(struct conn *conn);

// The same for want of memory, which the log is told of as this event, though not each time.
void conn_lacks_memory(struct conn *conn, const char *event);

#endif
