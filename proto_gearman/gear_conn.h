/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_GEAR_CONN_H
#define TANDEM_PROTO_GEARMAN_GEAR_CONN_H

// A Gearman connection: of a client, a worker, an administrator, or all of them in one. It is
// always in exactly one state, which says what the next bytes of input are and which member of
// `doing` is set. conn.c finds packets and lines, and the files below carry them out and make the
// steps of their states.
//
// An idle connection needs no memory but this struct: its host stores input that has not been
// parsed, and whatever needs memory (a workload, a long list) allocates it while it runs.

#include "core/base/list.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "proto_common/frontend.h"
#include "proto_common/handle.h"
#include "proto_common/steps.h"

#include "proto_gearman/gear_packet.h"
#include "proto_gearman/gearman.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A longer client id is cut to this many bytes.
#define GEAR_CLIENT_ID_MAX 127

// `exception_id` has this many bits of a job's id.
#define GEAR_EXCEPTION_MASK ((UINT64_C(1) << 48) - 1)

// Shared by all connections.
struct gear_shared {
    struct broker *broker;
    const struct gear_options *options;
    const struct process_facts *facts;
    struct list_node conns; // of struct gear_conn_node, newest first
    struct handles handles;
    uint64_t commands; // packets and lines received
};

enum gear_state {
    GEAR_MESSAGE,         // a packet or a line is next
    GEAR_BODY,            // the rest of a packet's data
    GEAR_SKIP,            // the rest of a packet that was refused
    GEAR_UNSUBSCRIBING,   // RESET_ABILITIES runs, in slices; input is not parsed
    GEAR_ENDING_TIMEOUTS, // PRE_SLEEP ends the time-outs of held jobs, in slices
    GEAR_LISTING,         // a list is written, in slices
    GEAR_DROPPING,        // `drop function` deletes jobs, in slices
    GEAR_GRANTING,        // an `auth` checks the worker's functions, in slices
    GEAR_AUTH_LATER,      // an `auth`, still in the input, waits until wire->deadline_at
    GEAR_FINISHED,        // no further input is parsed
    GEAR_STATES
};

struct gear_body;
struct gear_listing;
struct gear_drop;

// A node in the list of connections: a connection, or the position of a list of workers in it.
struct gear_conn_node {
    struct list_node node;
    bool is_conn;
};

struct gear_conn {
    struct gear_conn_node in_conns; // in shared->conns
    // The job of the last WORK_EXCEPTION, its id cut by GEAR_EXCEPTION_MASK; 0: none, or a
    // WORK_FAIL of the job has followed.
    uint64_t exception_id : 48;
    uint64_t state : 8;              // enum gear_state
    uint64_t first_message_seen : 1; // the first message has begun
    uint64_t exceptions : 1;         // the client asked for exceptions
    uint64_t begun : 1;              // a body has begun since the host last asked for the pace
    struct gear_shared *shared;
    struct wire *wire;
    struct session *session;
    char *client_id; // owned, ends with NUL; NULL: not set
    union {
        struct gear_body *body;       // GEAR_BODY: owned
        uint64_t skip;                // GEAR_SKIP: bytes still to come
        struct gear_listing *listing; // GEAR_LISTING: owned
        struct gear_drop *drop;       // GEAR_DROPPING: owned
    } doing;
};

static_assert(sizeof(struct gear_conn) <= 72, "an idle connection is small");

//
// conn.c: packets and lines
//

// The front-end's functions of the same names.
struct feed gear_feed(void *conn, struct slice input, unsigned budget);
struct feed gear_filled(void *conn, size_t len, unsigned budget);

// GEAR_BODY: the memory in use; frees it.
size_t gear_body_holds(const struct gear_conn *conn);
void gear_body_discard(struct gear_conn *conn);

//
// exec.c: carrying out packets, by the table of their types (GEAR_TYPES)
//

// Carries out a complete packet of a known type.
void gear_exec(struct gear_conn *conn, const struct gear_packet *packet);

// GEAR_GRANTING: checks the next functions, and replies after the last.
enum step gear_grant_step(struct gear_conn *conn, struct feed_turn *turn);

// GEAR_AUTH_LATER: wire->deadline_at has come, and the packet can be carried out.
void gear_auth_expired(struct gear_conn *conn);

//
// client.c: packets of clients
//

// SUBMIT_JOB in all its forms.
void gear_submit(struct gear_conn *conn, const struct gear_packet *packet);
void gear_get_status(struct gear_conn *conn, const struct gear_packet *packet);
void gear_get_status_unique(struct gear_conn *conn, const struct gear_packet *packet);

//
// worker.c: packets of workers
//

// CAN_DO and CAN_DO_TIMEOUT.
void gear_can_do(struct gear_conn *conn, const struct gear_packet *packet);

// The worker gets no more jobs of the functions that it gives up, and keeps the jobs that it holds.
// RESET_ABILITIES gives up all functions, in the state GEAR_UNSUBSCRIBING.
void gear_cant_do(struct gear_conn *conn, const struct gear_packet *packet);
void gear_reset_abilities(struct gear_conn *conn, const struct gear_packet *packet);
enum step gear_unsubscribe_step(struct gear_conn *conn, struct feed_turn *turn);

// The jobs that the worker holds lose their time-outs. If there are any, this is done in the state
// GEAR_ENDING_TIMEOUTS.
void gear_pre_sleep(struct gear_conn *conn, const struct gear_packet *packet);
enum step gear_end_timeouts_step(struct gear_conn *conn, struct feed_turn *turn);

// GRAB_JOB, GRAB_JOB_UNIQ and GRAB_JOB_ALL.
void gear_grab(struct gear_conn *conn, const struct gear_packet *packet);

// Whether earlier reports about the same job have not been sent to its clients yet, so that this
// one must wait.
bool gear_report_is_early(const struct gear_conn *conn, const struct gear_packet *packet);

void gear_work_status(struct gear_conn *conn, const struct gear_packet *packet);
// WORK_DATA and WORK_WARNING.
void gear_work_data(struct gear_conn *conn, const struct gear_packet *packet);
void gear_work_complete(struct gear_conn *conn, const struct gear_packet *packet);
void gear_work_fail(struct gear_conn *conn, const struct gear_packet *packet);
void gear_work_exception(struct gear_conn *conn, const struct gear_packet *packet);

// The packet, a report with data of `size` bytes, exceeds gearman.max_job_size. It is logged and
// skipped, but the worker gets no ERROR, which it would take for the reply to its next packet. A
// WORK_COMPLETE or WORK_EXCEPTION ends the job as WORK_FAIL does, because the result of the next
// worker would be as large.
void gear_report_too_large(struct gear_conn *conn, const struct gear_packet *packet, size_t size);

// The packet is not carried out. If it is a WORK_DATA, its clients miss a part of the result, and a
// later WORK_COMPLETE is sent to them as WORK_FAIL.
void gear_data_lost(struct gear_conn *conn, const struct gear_packet *packet);

#endif
