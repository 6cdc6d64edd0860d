/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_CONN_H
#define TANDEM_PROTO_GEARMAN_CONN_H

// One Gearman connection (a client, a worker, an administrator, or all of them in one), and what
// all of them share. A connection is always in exactly one state, which says what the next bytes
// of input are, and what `doing` holds.
//
// An idle connection costs only this struct: input that is not used up stays with the host, and
// whatever needs room (a workload on its way, a long list) allocates it for as long as it takes.

#include "core/base/list.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "proto_common/frontend.h"
#include "proto_common/handle.h"
#include "proto_common/steps.h"

#include "proto_gearman/gearman.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

// The longest name of a client; a longer one is cut.
#define GEAR_CLIENT_ID_MAX 127

#define GEAR_EXCEPTED_MASK ((UINT64_C(1) << 48) - 1)

struct gear_shared {
    struct broker *broker;
    const struct gear_options *options;
    const struct process_facts *facts;
    struct list_node conns; // struct gear_conn and struct gear_place, newest first
    struct handles handles;
    uint64_t commands; // packets and lines so far
};

enum gear_state {
    GEAR_MESSAGE,         // a packet or a line
    GEAR_BODY,            // the rest of a packet's last argument
    GEAR_SKIP,            // the rest of a packet that was refused
    GEAR_UNSUBSCRIBING,   // nothing: functions are given up
    GEAR_ENDING_TIMEOUTS, // nothing: the worker sleeps, and the time-outs of its jobs end
    GEAR_LISTING,         // nothing: a list grows by its next step
    GEAR_DROPPING,        // nothing: the jobs of a function that is dropped are deleted
    GEAR_GRANTING,        // nothing: functions are judged by what a token grants
    GEAR_LATER,           // the token that was there already, but not before a moment
    GEAR_FINISHED,        // nothing any more
    GEAR_STATES
};

struct gear_body;
struct gear_listing;
struct gear_drop;

// A place in the list of connections: a connection, or how far a list of them has come.
struct gear_place {
    struct list_node node;
    bool is_conn;
};

struct gear_conn {
    struct gear_place place; // in shared->conns
    // The id of the job of its last WORK_EXCEPTION, as much of it as GEAR_EXCEPTED_MASK leaves; 0
    // where a WORK_FAIL about it has followed.
    uint64_t excepted : 48;
    uint64_t state : 8;      // enum gear_state
    uint64_t past_first : 1; // the first message has begun
    uint64_t exceptions : 1; // the client wants to be told of them
    uint64_t begun : 1;      // the present body is not the one that the host was told of
    struct gear_shared *shared;
    struct wire *wire;
    struct session *session;
    char *client_id; // owned, ends with NUL; NULL until the client names itself
    union {
        struct gear_body *body;       // GEAR_BODY: owned
        uint64_t skip;                // GEAR_SKIP: bytes that are still to come
        struct gear_listing *listing; // GEAR_LISTING: owned
        struct gear_drop *drop;       // GEAR_DROPPING: owned
    } doing;
};

static_assert(sizeof(struct gear_conn) <= 72, "an idle connection is kept small");

// The front-end's functions of the same names.
struct feed gear_feed(void *conn, struct slice input, unsigned budget);
struct feed gear_filled(void *conn, size_t len, unsigned budget);

#endif
