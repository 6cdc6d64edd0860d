/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_SERVER_BED_H
#define TANDEM_TESTS_SERVER_SERVER_BED_H

// A loop to try connections on: a broker, a clock that stands still unless told, socket pairs for
// clients, and a front-end that is made for trying things out. It speaks lines that end in LF:
//
//   block     says nothing and is blocked until bed_unblock(), then answers `unblocked`; `going`
//             where the process stops before that
//   dear      has taken much of the budget, and answers `dear`
//   again     wants to be fed once more, then answers `again`
//   big N     answers N bytes `B` as a blob, then LF
//   take N    takes the N bytes that follow straight into a buffer; answers `took` and its bytes
//   now       answers the broker's present in seconds
//   late N    wants to be told when N seconds have passed, and answers `late` then
//   keep X    answers X, which is held until the store has reached a position of its own
//   hand X    the same, as the answer to a submission
//   claim X   shows the token X; answers `unknown`, `later N` with the seconds until it may ask
//             again, or as `itself`
//   itself    shows none; answers `address` or `known`, and what it may do to the queue `jobs`: the
//             rights as a number, or `all`
//   may       answers what it may do, as its session has it
//   local     answers `yes` where its peer is on this machine, otherwise `no`
//   quit      is finished
//   any other line is answered by itself
//
// A client that is too late (proto_common/pace.h) is answered `idle` or `slow`, and is finished.

#include "core/broker.h"
#include "server/conn/conn_private.h"
#include "server/loop.h"

#include <stdbool.h>

struct bed_stub; // state of one connection of the front-end

// A store that the test controls; see bed_keep().
struct bed_store {
    struct store store;
    uint64_t given; // the last position
    uint64_t reached;
    enum store_pressure pressure;
    nsec_t due_at;
    bool gave_up;       // until it is asked
    struct fence fence; // in force where has_fence is set before bed_keep()
    bool has_fence;
    unsigned turns;
};

// The behaviour and observations of the front-end; shared by its connections.
struct bed_front {
    struct broker *broker;
    bool refuses;        // new connections
    bool eof_means_gone; // as in Gearman; otherwise it continues, and a blocked line is answered
    unsigned feeds;
    const void *fed_first; // the state of that connection which was fed first since this was NULL
    unsigned fills;
    unsigned most; // commands parsed in one feed
    unsigned eofs;
    unsigned goings;       // how often connections were told that the process is about to stop
    unsigned open;         // connections
    unsigned granted;      // the number of times that connections got their rights
    unsigned grants_later; // the number of next times that the latest one asks for a repetition
    struct access *also;   // tokens of its own; NULL: none. Borrowed
    size_t looked_at;      // in a broker's links (work.h), what the last claim has cost
    struct bed_stub *latest;
    struct bed_store store;
};

struct bed {
    struct frontend frontend;  // of the service
    struct pace_limits limits; // in force where the service points to them
    struct broker *broker;
    struct loop loop;
    struct bed_front front;
    struct service service;
    struct service_counters counters; // of that
};

// The clock that loops on the bed read.
extern struct instant bed_clock;

// Fails the test where it cannot be made.
void bed_init(struct bed *bed, struct instant (*now)(void));
void bed_close(struct bed *bed);
struct instant bed_now(void);

// The transport of connections from now on.
void bed_use_transport(struct bed *bed, const struct transport *transport);

// From now on the loop looks after the store.
void bed_keep(struct bed *bed);

// A client; returns its side of a socket pair, which does not block.
int bed_connect(struct bed *bed);

// The same over TCP, whose connections can be reset.
int bed_connect_tcp(struct bed *bed);

// Closes such a client by a reset.
void reset_client(int client);

// Hands a socket of the test's own to the loop.
void bed_serve(struct bed *bed, int fd);

// Lets a turn pass, which may sleep. I/O threads, where the bed has some, have a round before it
// and one behind it.
void bed_turn(struct bed *bed, bool wait);

// Lets turns pass that do not sleep.
void bed_turns(struct bed *bed, unsigned count);

// The server's side of the connection that was made last.
struct conn *bed_latest(struct bed *bed);

// The latest connection's blocked line is over.
void bed_unblock(struct bed_front *front);

// Sends all of the text; turns pass where the socket is full.
void bed_send(struct bed *bed, int client, const char *text);

// The text is the next that the client receives; turns pass until it is there.
void bed_expect(struct bed *bed, int client, const char *text);

// The client has received nothing.
void bed_expect_silence(struct bed *bed, int client);

// The client sees the end of the connection, after turns have passed; closes its side.
void bed_expect_end(struct bed *bed, int client);

#endif
