/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_H
#define TANDEM_SERVER_CONN_H

// A connection: a socket on one side, a front-end's state on the other. Its input is fed as it
// comes, and what the front-end cannot use yet is kept; its output is sent once, when the turn
// ends. Order within a connection is the order of its bytes.
//
// What a connection waits for follows from its state and is worked out in one place, at the end of
// each turn that touched it (conn_end_turn). What bounds it:
// - in a turn it parses CONN_COMMANDS_MAX commands, and fewer where their answers are longer than
//   FEED_STAGED_MAX, reads once and sends CONN_SEND_MAX;
// - while its front-end is blocked, input is kept up to CONN_INPUT_MAX, then the socket is not read
//   (but watched for the peer's going);
// - while more than CONN_OUTPUT_MAX of output waits for the peer, nothing is read or fed until half
//   of that has left;
// - a peer that does not take what its jobs send is dropped where all that is kept for it, output,
//   input and what its front-end gathers, would be more than server.max_connection_memory: answers
//   to what it asks cannot come to that, since it is not fed meanwhile, and no body can, since it
//   is not read (connection_memory.h);
// - a peer that takes none of its output for turn->unread_for is dropped (what the store holds back
//   is not counted);
// - while the store is behind or stuck (store.h), nothing is read or fed for which it has no room;
// - what a front-end leaves unused while it says FEED_MORE is not bounded here: it must not leave
//   more than one incomplete command.

#include "proto_common/frontend.h"
#include "server/chores.h"
#include "server/io/service.h"
#include "server/tally.h"
#include "server/transport/transport.h"
#include "server/turn.h"

// A protocol at work in this process: who new connections belong to.
struct service {
    const struct frontend *frontend;
    void *shared;                      // the state that its connections share
    const struct pace_limits *limits;  // how long their peers may take; NULL: any time
    const struct transport *transport; // of all its connections
    void *transport_shared;            // what that has for all of them
    struct io_service io;              // the same for the I/O threads, where there are any
    struct turn *turn;
    struct tally *tally;
    struct chore chore; // of a front-end that works in the background
};

struct conn;

// Begins a connection on `fd`, which is not blocking and is owned from now on: where there is no
// memory, or the front-end refuses, it is closed and the log says so. `own` is what the service's
// transport has of it, which is moved into the connection; the handshake, if there is one, has been
// made. `peer` is for the log. What the peer has sent already is read and fed at once, unless the
// turn is spent: turn_tick() comes first.
void conn_open(const struct service *service, int fd, void *own, const char *peer);

// The connection that the member is a part of.
struct conn *conn_of(struct turn_member *member);

// Finds out what it may do, and has it broken where it has lost what it waits for: it begins; the
// rules are others; they may be (WALK_JUDGE), and it is about to be fed, for nothing that it says
// then is done by the old ones. False: that takes longer, and it is neither read nor fed before
// another call has answered true.
void conn_judge_first(struct conn *conn);
bool conn_judge_again(struct conn *conn);
void conn_judge_before_feed(struct conn *conn);

// It was taken off the list in which it waited for the store.
void conn_unpark(struct conn *conn);

// Feeds input that is kept, or none, if the front-end can go on. Whether that was called for.
bool conn_run(struct conn *conn);

// Whether others are read and fed before it: one of its last feeds has taken much of its budget, or
// has received or staged more than CONN_SMALL_MAX.
bool conn_is_dear(const struct conn *conn);

// The others were fed: feeds or reads it, if that is still possible.
void conn_take_turn(struct conn *conn);

// The moment that the front-end asked for has come, or the peer has not read for too long.
void conn_expire(struct conn *conn);

// What it waits for may have changed: it is worked out again when the turn ends.
void conn_look_again(struct conn *conn);

// The process is about to stop, which the front-end is told: reads and parses no more, and closes
// when the output has left.
void conn_stop(struct conn *conn);

// Whether others send before it: it has more than CONN_SMALL_MAX to send.
bool conn_is_bulky(const struct conn *conn);

// Sends what is staged, and closes the connection or sets what it waits for now.
void conn_end_turn(struct conn *conn);

// It failed: logs why, and has it closed when the turn ends.
void conn_break(struct conn *conn, const char *why);

// How many bytes of memory are kept for it: output that its peer has not taken, input, and what its
// front-end keeps. The same bytes may be kept for others, too.
size_t conn_holds(const struct conn *conn);

// It holds so many bytes, which others need: logs that, and has it closed when the turn ends.
void conn_shed(struct conn *conn, size_t held);

// Closes at once. The connection is not valid afterwards.
void conn_close(struct conn *conn);

// Whether it has output that the store must make safe before it leaves.
bool conn_is_held(const struct conn *conn);

#endif
