/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_GEAR_REPLY_H
#define TANDEM_PROTO_GEARMAN_GEAR_REPLY_H

// The packets that the server sends. Each function stages a packet in the output of a connection;
// if there is no memory, the output remembers that, and the host closes the connection.

#include "core/base/blob.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "core/status.h"
#include "proto_common/output.h"

#include "proto_gearman/gear_conn.h"
#include "proto_gearman/gear_packet.h"

#include <stddef.h>
#include <stdint.h>

// Holds the packets that are staged from now on until the store has reached that log position (0:
// does not hold them). Unlike wire_hold(), it does not hold a list that is being written.
void gear_hold(struct gear_conn *conn, uint64_t position);

// The bytes of packets that wait for the end of a list.
size_t gear_held_back(struct gear_conn *conn);

// The name of an error; its kind of refusal (-1: not a refusal, or counted elsewhere); the code and
// the text of the ERROR packet. If gearmand has a text for the error, it is the same.
#define GEAR_REFUSALS(X)                                                                           \
    X(MAGIC, REFUSAL_BAD, "INVALID_MAGIC", "Request magic expected")                               \
    X(COMMAND, REFUSAL_BAD, "INVALID_COMMAND", "Command not expected")                             \
    X(TOO_FEW_ARGUMENTS, REFUSAL_BAD, "INVALID_ARGUMENT", "The packet has too few arguments")      \
    X(MOMENT, REFUSAL_BAD, "INVALID_ARGUMENT", "Not a moment at which the job could start")        \
    X(FUNCTION_NAME, REFUSAL_BAD, "INVALID_FUNCTION_NAME", "A function needs a name")              \
    X(LONG_UNIQUE, REFUSAL_TOO_LARGE, "ARGUMENT_TOO_LARGE", "Unique value too large")              \
    X(LONG_ARGUMENT, REFUSAL_TOO_LARGE, "ARGUMENT_TOO_LARGE", "An argument is too long")           \
    X(LARGE_WORKLOAD, REFUSAL_TOO_LARGE, "ARGUMENT_TOO_LARGE", "The workload is too large")        \
    X(TOKEN, -1, "INVALID_ARGUMENT", "Not a token")                                                \
    X(OPTION, REFUSAL_BAD, "UNKNOWN_OPTION", "Server does not recognize given option")             \
    X(DATA, -1, "JOB_NOT_FOUND", "Job does not exist on server")                                   \
    X(RESULT, -1, "JOB_NOT_FOUND", "Job given in work result not found")                           \
    X(EXCEPTION, -1, "JOB_NOT_FOUND", "An exception was received for a job that does not exist")   \
    X(FULL, REFUSAL_LIMIT, "QUEUE_ERROR", "Job queue is full")                                     \
    X(QUEUES, REFUSAL_LIMIT, "QUEUE_ERROR", "There are too many functions")                        \
    X(DRAINING, REFUSAL_DRAINING, "QUEUE_ERROR", "Server is draining")                             \
    X(ROOM, REFUSAL_STORE, "QUEUE_ERROR", "The journal has no room")                               \
    X(SLOW, -1, "TIMEOUT", "The packet took too long to arrive")                                   \
    X(MEMORY, REFUSAL_MEMORY, "QUEUE_ERROR", "Out of memory")                                      \
    X(FORBIDDEN, REFUSAL_FORBIDDEN, "FORBIDDEN", "Not allowed")

enum gear_refusal {
#define X(name, counts_as, code, text) GEAR_REFUSE_##name,
    GEAR_REFUSALS(X)
#undef X
};

// Stages an ERROR, and counts and logs the refusal.
void gear_refuse(struct gear_conn *conn, enum gear_refusal refusal);

// Stages the ERROR for a status other than STATUS_OK; `not_found` stands for STATUS_NOT_FOUND.
void gear_refuse_status(struct gear_conn *conn, enum status status, enum gear_refusal not_found);

// A packet without arguments.
void gear_reply(struct gear_conn *conn, enum gear_type type);

// A packet of one argument. `blob` contains `data`; NULL: the data is copied.
void gear_reply_data(struct gear_conn *conn, enum gear_type type, struct slice data,
                     struct blob *blob);

// A packet that begins with the handle of a job: alone, or followed by data (may be NULL: none).
void gear_reply_handle(struct gear_conn *conn, enum gear_type type, uint64_t id);
void gear_reply_work(struct gear_conn *conn, enum gear_type type, uint64_t id, struct blob *data);

// WORK_STATUS, if the worker has not sent its numbers as text.
void gear_reply_progress(struct gear_conn *conn, const struct job_event *event);

// JOB_ASSIGN, JOB_ASSIGN_UNIQ or JOB_ASSIGN_ALL. It is held until the job is stored, so that no
// worker begins a job that a restart would lose.
void gear_reply_assign(struct gear_conn *conn, enum gear_type type, const struct job *job);

// STATUS_RES, or STATUS_RES_UNIQUE, which also has the number of waiting clients. `subject` is the
// handle or unique of the request; `job` is NULL if there is none.
void gear_reply_status(struct gear_conn *conn, enum gear_type type, struct slice subject,
                       const struct job *job);

#endif
