/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_CONN_H
#define TANDEM_PROTO_BEANSTALK_CONN_H

// One beanstalk connection, and what all of them share. A connection is always in exactly one
// state; its state says what the next bytes of input are, and what `doing` holds.
//
// An idle connection costs only this struct: input that is not used up stays with the host, and
// whatever needs room (a body on its way, a long list) allocates it for as long as it takes.

#include "core/base/slice.h"
#include "core/broker.h"
#include "proto_common/frontend.h"
#include "proto_common/steps.h"

#include "proto_beanstalk/beanstalk.h"
#include "proto_beanstalk/parse.h"
#include "proto_beanstalk/reply.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct bean_shared {
    struct broker *broker;
    const struct bean_options *options;
    const struct process_facts *facts;
    uint64_t commands[BEAN_VERBS]; // how often each was understood
    uint64_t total_connections;    // since the start
    uint32_t connections;          // that are open
    uint32_t producers;            // of those, which have ever put a job
    uint32_t workers;              // of those, which have ever reserved one or tried
};

enum bean_state {
    BEAN_LINE,          // a command line
    BEAN_DISCARD,       // the rest of an over-long line
    BEAN_BODY,          // a body, and its CRLF
    BEAN_SKIP,          // a body that will be refused, and its CRLF
    BEAN_BLOCKED,       // nothing: a reserve waits
    BEAN_BATCH_BLOCKED, // nothing: a reserve-batch waits for its first job
    BEAN_BATCHING,      // nothing: a reserve-batch takes its next jobs
    BEAN_KICKING,       // nothing: a kick makes its next step
    BEAN_CLEARING,      // nothing: a clear-tube makes its next step
    BEAN_LISTING,       // nothing: a list grows by its next step
    BEAN_GRANTING,      // nothing: tubes are judged by what a token grants
    BEAN_LATER,         // the `auth` command that was there already, but not before a moment
    BEAN_EARLY,         // the `progress` command that was there already, in the next turn
    BEAN_FINISHED,      // nothing any more
    BEAN_STATES
};

// Whether commands are obeyed that beanstalkd does not have.
static inline bool bean_extensions(const struct bean_shared *shared)
{
    return shared->options->extensions == BEAN_EXTENSIONS_ON;
}

struct bean_body;
struct bean_batch;
struct bean_clear;
struct bean_listing;

// A refused body: how much of it is still to come, and the answer when all has.
struct bean_skip {
    uint64_t left;
    enum bean_answer answer;
};

struct bean_conn {
    struct bean_shared *shared;
    struct wire *wire;
    struct session *session;
    struct queue *used; // held
    union {
        struct bean_body *body;       // BEAN_BODY: owned
        struct bean_skip skip;        // BEAN_SKIP
        struct kick kick;             // BEAN_KICKING: of `used`
        struct bean_batch *batch;     // BEAN_BATCH_BLOCKED, BEAN_BATCHING: owned
        struct bean_clear *clear;     // BEAN_CLEARING: owned
        struct bean_listing *listing; // BEAN_LISTING: owned
    } doing;
    uint8_t state;     // enum bean_state
    bool past_first;   // the first line has ended
    bool half_closed;  // the peer sends nothing more
    bool producer : 1; // counted as such
    bool worker : 1;
    bool begun : 1; // the present body is not the one that the host was told of
};

static_assert(sizeof(struct bean_conn) <= 56, "an idle connection is kept small");

// The front-end's functions of the same names.
struct feed bean_feed(void *conn, struct slice input, unsigned budget);
struct feed bean_filled(void *conn, size_t len, unsigned budget);

#endif
