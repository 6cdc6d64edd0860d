/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_CONN_H
#define TANDEM_SERVER_CONN_CONN_H

// A connection: a socket on one side, the state of a front-end on the other. Input is fed to the
// front-end as it comes, and kept as long as the front-end cannot use it; output is sent once, when
// the turn ends. Input and output each keep their order.
//
// What a connection waits for follows from its state, and is determined in one place, at the end of
// each turn that has touched it (conn_end_turn). Its bounds:
// - in a turn it parses CONN_COMMANDS_MAX commands, or fewer if their replies are longer than
//   FEED_STAGED_MAX; it reads once, and sends CONN_SEND_MAX bytes;
// - while its front-end is blocked, input is kept up to CONN_INPUT_MAX; then the socket is not
//   read, but the peer's end is still noticed;
// - while more than CONN_OUTPUT_MAX bytes of output wait for the peer, nothing is read or fed until
//   half of them were sent;
// - a peer that does not read the events of its jobs is dropped when the memory kept for it
//   (output, input and the front-end's) would exceed server.max_connection_memory. Replies to its
//   own commands cannot exceed that, as it is not fed meanwhile; nor can a body, which is not read
//   (server/config/settings.h);
// - a peer that reads none of its output for turn->unread_for is dropped; output that waits for the
//   store does not count;
// - while the store is under pressure, commands that add to it are not read or fed;
// - the input that a front-end leaves unused with FEED_MORE is not bounded here: it must be less
//   than one command.

#include "proto_common/frontend.h"
#include "proto_common/introspect.h"
#include "proto_common/refusal.h"
#include "server/conn/loop_turn.h"
#include "server/io/io.h"
#include "server/transport/transport.h"

#include <stdint.h>

// Counters of a protocol, with TLS and without. Only the loop's thread counts; I/O threads tell it
// of what they refuse.
struct service_counters {
    uint64_t open;     // connections now
    uint64_t accepted; // connections
    uint64_t commands; // beside the front-end's own count
    uint64_t received; // bytes
    uint64_t sent;
    uint64_t refusals[REFUSAL_COUNT];
};

static inline void service_count_refusal(struct service_counters *counters,
                                         enum refusal_kind refusal)
{
    counters->refusals[refusal]++;
}

// A protocol at work in this process. New connections belong to one.
struct service {
    const struct frontend *frontend;
    void *shared;                      // the front-end's state for all connections
    const struct pace_limits *limits;  // on the time that peers may take; NULL: none
    const struct transport *transport; // of all its connections
    void *transport_shared;            // the transport's state for all connections
    struct io_service io;              // the same for the I/O threads
    struct turn *turn;
    struct service_counters *counters;
    struct background_task task; // of a front-end that works in the background
    bool tls;                    // its connections are encrypted
};

struct conn;

// Begins a connection on `fd`, which does not block, and owns it from now on: without memory, or if
// the front-end refuses, it is closed and that is logged. `own` is the service's transport state of
// the socket, which moves into the connection; a handshake has been made. `peer` is for the log.
// Input that is there is read and fed at once, unless the turn is spent: call turn_tick() before.
void conn_open(const struct service *service, int fd, void *own, const char *peer);

// Logs and counts a socket that became no connection: it was not admitted (net/proxied.h), or its
// handshake has failed. An empty `why` (net/handshakes.h) means that the peer only checked whether
// the port is open.
void service_log_refused(const struct service *service, const char *peer, const char *why);

// What the I/O threads call; the context is the struct turn of the loop.
extern const struct io_host conn_io_host;

// The connection that the member is a part of.
struct conn *conn_of(struct turn_member *member);

// Determines the client's rights, and breaks the connection if it has lost the right to what it
// waits for: when it begins; when the rules have changed; before it is fed while they may have
// changed (WALK_AUTHORIZE), as no command is executed by the old rules. conn_authorize_again() is
// false if that takes longer: the connection is not read or fed before another call returns true.
void conn_authorize_first(struct conn *conn);
bool conn_authorize_again(struct conn *conn);
void conn_authorize_before_feed(struct conn *conn);

// It was removed from the list in which it waited for the store.
void conn_unpark(struct conn *conn);

// Feeds kept input, or none, if the front-end can go on. Whether the connection had asked for that.
bool conn_run(struct conn *conn);

// Whether others are read and fed first: one of its last feeds has used much of its budget, or it
// has received or staged more than CONN_SMALL_MAX.
bool conn_is_expensive(const struct conn *conn);

// Feeds or reads an expensive connection, if that is still possible.
void conn_take_turn(struct conn *conn);

// The moment that the front-end asked for has come, or the peer has not read for too long.
void conn_expire(struct conn *conn);

// A setting has changed: at the end of the turn it is determined again what it waits for.
void conn_review(struct conn *conn);

// The process is about to stop: tells the front-end, reads and parses no more, and closes when the
// output was sent.
void conn_stop(struct conn *conn);

// Whether others send first: it has more than CONN_SMALL_MAX to send.
bool conn_is_bulky(const struct conn *conn);

// Sends staged output. Then closes the connection, or sets what it waits for.
void conn_end_turn(struct conn *conn);

// It has failed: logs why, and closes it when the turn ends.
void conn_break(struct conn *conn, const char *why);

// Bytes of memory that are kept for it: output that its peer has not read, input, and the
// front-end's. Several connections may share the same bytes.
size_t conn_holds(const struct conn *conn);

// Evicts it, as its `held` bytes are needed: logs that, and closes it when the turn ends.
void conn_evict(struct conn *conn, size_t held);

// Closes it at once and frees it.
void conn_close(struct conn *conn);

// Whether it has output that waits for the store.
bool conn_is_held(const struct conn *conn);

// The registry: all connections of a turn by number, which is the order in which they began. Each
// operation takes logarithmic time.

// Adds a new connection, which has its number; removes one that is about to be freed.
void conn_registry_add(struct conn *conn);
void conn_registry_remove(struct conn *conn);

// The oldest connection, and the one after that; NULL: there is none.
struct conn *conn_registry_first(const struct turn *turn);
struct conn *conn_registry_next(const struct conn *conn);

// The first connection whose number is greater; NULL: there is none.
struct conn *conn_registry_after(const struct turn *turn, uint64_t number);

// The connection with that number; NULL: there is none.
struct conn *conn_registry_find(const struct turn *turn, uint64_t number);

// The connection with that session; NULL: there is none. Each connection opens a session when it
// begins, so that sessions have the same order.
struct conn *conn_registry_find_session(const struct turn *turn, const struct session *session);

// The next connection of a walk; NULL: the walk is over.
struct conn *conn_registry_walk(struct turn *turn, enum turn_walk walk);

// The walk returns to that connection.
void conn_registry_walk_back(struct conn *conn, enum turn_walk walk);

// Introspection: the connection whose number is the next greater than `*after`, which becomes its
// number; the one with that number. False: there is none.
bool conn_introspect_next(const struct turn *turn, uint64_t *after,
                          struct introspect_connection *connection);
bool conn_introspect_find(const struct turn *turn, uint64_t number,
                          struct introspect_connection *connection);

// The number of the connection with that session; 0: there is none.
uint64_t conn_introspect_of_session(const struct turn *turn, const struct session *session);

#endif
