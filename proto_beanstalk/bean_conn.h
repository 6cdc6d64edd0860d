/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_BEAN_CONN_H
#define TANDEM_PROTO_BEANSTALK_BEAN_CONN_H

// A beanstalk connection. It is always in exactly one state, which says what the next bytes of
// input are and which member of `doing` is set. conn.c finds the lines, and the files below carry
// out commands and make the steps of their states.
//
// An idle connection needs no memory but this struct: its host stores input that has not been
// parsed, and a command that needs memory (for a body, a long list) allocates it while it runs.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "proto_common/frontend.h"
#include "proto_common/steps.h"

#include "proto_beanstalk/bean_parse.h"
#include "proto_beanstalk/bean_reply.h"
#include "proto_beanstalk/beanstalk.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Shared by all connections.
struct bean_shared {
    struct broker *broker;
    const struct bean_options *options;
    const struct process_facts *facts;
    uint64_t commands[BEAN_VERBS]; // how often each valid command was received
    uint64_t total_connections;    // since the start
    uint32_t connections;          // open
    uint32_t producers;            // open, and have put a job
    uint32_t workers;              // open, and have reserved a job or tried to
};

enum bean_state {
    BEAN_LINE,          // a command line is next
    BEAN_DISCARD,       // the rest of an over-long line
    BEAN_BODY,          // a body and its CRLF
    BEAN_SKIP,          // a body that is refused, and its CRLF
    BEAN_BLOCKED,       // a reserve waits for a job; input is not parsed
    BEAN_BATCH_BLOCKED, // a reserve-batch waits for its first job
    BEAN_BATCHING,      // a reserve-batch takes more jobs
    BEAN_KICKING,       // a kick runs, in slices
    BEAN_CLEARING,      // a clear-tube runs, in slices
    BEAN_LISTING,       // a list is written, in slices
    BEAN_GRANTING,      // an `auth` checks the watched tubes, in slices
    BEAN_AUTH_LATER,    // an `auth`, still in the input, waits until wire->deadline_at
    BEAN_PROGRESS_NEXT, // a `progress`, still in the input, runs in the next turn
    BEAN_FINISHED,      // no further input is parsed
    BEAN_STATES
};

// Whether commands that beanstalkd does not have are enabled.
static inline bool bean_extensions(const struct bean_shared *shared)
{
    return shared->options->extensions == BEAN_EXTENSIONS_ON;
}

struct bean_body;
struct bean_batch;
struct bean_clear;
struct bean_listing;

// A refused body.
struct bean_skip {
    uint64_t left;           // bytes still to come, including the CRLF
    enum bean_answer answer; // sent after them
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
    uint8_t state;        // enum bean_state
    bool first_line_done; // the first line has ended
    bool half_closed;     // the peer has shut down its side
    bool producer : 1;    // counted in `producers`
    bool worker : 1;      // counted in `workers`
    bool begun : 1;       // a body has begun since the host last asked for the pace
};

static_assert(sizeof(struct bean_conn) <= 56, "an idle connection is small");

// Replies to a command that the broker has carried out: `done` for STATUS_OK. If it changed a
// stored job, the reply waits until the store has the change.
static inline void bean_reply_changed(struct bean_conn *conn, enum status status,
                                      enum bean_answer done)
{
    if (status == STATUS_OK) {
        wire_hold(conn->wire, broker_position(conn->shared->broker));
    }
    bean_reply_status(conn->wire, status, done);
}

// conn.c: the front-end's functions of the same names.
struct feed bean_feed(void *conn, struct slice input, unsigned budget);
struct feed bean_filled(void *conn, size_t len, unsigned budget);

//
// exec.c: commands
//

// Carries out the command on `line`, which is without its CRLF: replies, or sets the state in which
// the reply will be made. `turn` has the input after the line.
void bean_exec(struct bean_conn *conn, struct slice line, struct feed_turn *turn);

// BEAN_KICKING, BEAN_CLEARING, BEAN_GRANTING: make the next slice, and reply after the last.
enum step bean_kick_step(struct bean_conn *conn, struct feed_turn *turn);
enum step bean_clear_step(struct bean_conn *conn, struct feed_turn *turn);
enum step bean_grant_step(struct bean_conn *conn, struct feed_turn *turn);

// BEAN_CLEARING: the memory in use; frees it and ends the command without a reply.
size_t bean_clear_holds(const struct bean_conn *conn);
void bean_clear_discard(struct bean_conn *conn);

// BEAN_AUTH_LATER: wire->deadline_at has come, and the command can be carried out.
void bean_auth_expired(struct bean_conn *conn);

//
// put.c: commands that a body follows
//

// Carries out a `put`, `put-unique` or `complete`, or begins to receive its body.
void bean_exec_with_body(struct bean_conn *conn, const struct bean_command *command,
                         struct feed_turn *turn);

// BEAN_BODY, BEAN_SKIP: take the input that has arrived.
enum step bean_body_step(struct bean_conn *conn, struct feed_turn *turn);
enum step bean_skip_step(struct bean_conn *conn, struct feed_turn *turn);

// BEAN_BODY: the buffer that receives the body; the memory in use; frees it.
struct intake *bean_body_intake(struct bean_conn *conn);
size_t bean_body_holds(const struct bean_conn *conn);
void bean_body_discard(struct bean_conn *conn);

//
// reserve.c: reserving jobs
//

void bean_reserve(struct bean_conn *conn, const struct bean_command *command);
void bean_reserve_with_timeout(struct bean_conn *conn, const struct bean_command *command);
void bean_reserve_job(struct bean_conn *conn, const struct bean_command *command);
void bean_reserve_batch(struct bean_conn *conn, const struct bean_command *command);

// BEAN_BATCHING: takes more jobs, and replies.
enum step bean_batch_step(struct bean_conn *conn, struct feed_turn *turn);

// BEAN_BATCHING: tells of each job that was taken and is not in a reply yet.
void bean_batch_undelivered(const struct bean_conn *conn, output_undelivered_fn tell,
                            void *context);

// BEAN_BATCH_BLOCKED, BEAN_BATCHING: the memory in use; frees it and ends the command without a
// reply.
size_t bean_batch_holds(const struct bean_conn *conn);
void bean_batch_discard(struct bean_conn *conn);

// The peer has shut down its side: a reserve that waits is answered TIMED_OUT.
void bean_reserve_half_closed(struct bean_conn *conn);

// The functions that the broker calls when a wait has ended.
extern const struct session_ops bean_session_ops;

//
// stats.c: statistics and lists
//

void bean_stats(struct bean_conn *conn, const struct bean_command *command);
void bean_stats_job(struct bean_conn *conn, const struct bean_command *command);
void bean_stats_tube(struct bean_conn *conn, const struct bean_command *command);
void bean_list_tubes(struct bean_conn *conn, const struct bean_command *command);
void bean_list_tubes_watched(struct bean_conn *conn, const struct bean_command *command);

// The job of that id, if the connection holds it or may observe its tube. NULL: otherwise, or if
// there is no such job.
const struct job *bean_find_job(const struct bean_conn *conn, uint64_t id);

// BEAN_LISTING: handles a slice of the names, and replies after the last. Names use up the budget
// of the turn, as commands do.
enum step bean_listing_step(struct bean_conn *conn, struct feed_turn *turn);

// BEAN_LISTING: the memory in use; frees it.
size_t bean_listing_holds(const struct bean_conn *conn);
void bean_listing_discard(struct bean_conn *conn);

#endif
