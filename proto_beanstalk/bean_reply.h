/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_BEAN_REPLY_H
#define TANDEM_PROTO_BEANSTALK_BEAN_REPLY_H

// The replies of the protocol. Each function stages a reply in the output of a connection; if there
// is no memory, the output remembers that, and the host closes the connection.

#include "core/base/blob.h"
#include "core/base/digits.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "core/status.h"
#include "proto_common/output.h"
#include "proto_common/wire.h"

#include <stddef.h>
#include <stdint.h>

// Room for the word of any reply, two numbers and CRLF.
#define BEAN_HEAD_MAX 64

// Replies without a parameter.
#define BEAN_ANSWERS(X)                                                                            \
    X(BAD_FORMAT)                                                                                  \
    X(BURIED)                                                                                      \
    X(DEADLINE_SOON)                                                                               \
    X(DELETED)                                                                                     \
    X(DRAINING)                                                                                    \
    X(EXPECTED_CRLF)                                                                               \
    X(FORBIDDEN)                                                                                   \
    X(INTERNAL_ERROR)                                                                              \
    X(JOB_TOO_BIG)                                                                                 \
    X(KICKED)                                                                                      \
    X(NOT_FOUND)                                                                                   \
    X(NOT_IGNORED)                                                                                 \
    X(OK)                                                                                          \
    X(OUT_OF_MEMORY)                                                                               \
    X(PAUSED)                                                                                      \
    X(RELEASED)                                                                                    \
    X(REPORTED)                                                                                    \
    X(TIMED_OUT)                                                                                   \
    X(TOUCHED)                                                                                     \
    X(UNKNOWN_COMMAND)

enum bean_answer {
#define X(word) BEAN_##word,
    BEAN_ANSWERS(X)
#undef X
};

// Stages the word and CRLF.
void bean_reply(struct output *out, enum bean_answer answer);

// Stages the reply, and counts and logs it as a refusal.
void bean_refuse(struct wire *wire, enum bean_answer answer);

// Stages `done` for STATUS_OK, and otherwise the reply to that status, which is counted and logged
// if it is a refusal.
void bean_reply_status(struct wire *wire, enum status status, enum bean_answer done);

// Stages `word`, which ends with a space, the number and CRLF.
void bean_reply_number(struct output *out, struct slice word, uint64_t number);

// USING and the name.
void bean_reply_using(struct output *out, struct slice name);

// RESERVED, id, size, CRLF, body, CRLF. If the connection closes before this has left, the output
// reports the job as undelivered.
void bean_reply_delivery(struct output *out, const struct job *job);

// FOUND, id, size, CRLF, body, CRLF.
void bean_reply_found(struct output *out, const struct job *job);

// OK, size, CRLF, body, CRLF.
void bean_reply_body(struct output *out, struct blob *body);

#endif
