/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_BODY_H
#define TANDEM_PROTO_BEANSTALK_BODY_H

// The body that follows the line of some commands, and the CRLF behind it. One that lies complete
// in the input is used from there, by the command itself; another is gathered as it arrives, so
// that an announced size costs nothing. A body that is refused (too big, no memory) is skipped
// first, and answered then.

#include "proto_beanstalk/conn.h"

#include "proto_common/intake.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The CRLF behind a body.
#define BEAN_TRAILER 2

// Carries the command out: its body is there, and CRLF was behind it. `blob` has the bytes where
// they were gathered, else it is NULL; either is borrowed.
typedef void (*bean_body_fn)(struct bean_conn *conn, const struct bean_command *command,
                             struct slice body, struct blob *blob);

// A body on its way.
struct bean_body {
    struct intake intake;
    bean_body_fn finish;
    struct bean_command command; // whose name and token are not kept
    char key[];                  // that of the command
};

// Whether all of it, and what is behind it, is there.
static inline bool bean_body_is_whole(const struct feed_turn *turn, uint32_t bytes)
{
    return turn->input.len >= (size_t)bytes + BEAN_TRAILER;
}

// Takes the two bytes behind a body off the input. They are gone even where they are not CRLF:
// what follows them is the next command.
static inline bool bean_body_take_trailer(struct feed_turn *turn)
{
    bool good = turn->input.ptr[0] == '\r' && turn->input.ptr[1] == '\n';

    turn->input = slice_from(turn->input, BEAN_TRAILER);
    return good;
}

// Takes a body that is whole, with what is behind it, off the input. False: that was not CRLF.
static inline bool bean_body_take(struct feed_turn *turn, uint32_t bytes, struct slice *body)
{
    *body = slice_of(turn->input.ptr, bytes);
    turn->input = slice_from(turn->input, bytes);
    return bean_body_take_trailer(turn);
}

// Gathers the body of the command. NULL without memory: it is skipped.
struct bean_body *bean_body_gather(struct bean_conn *conn, const struct bean_command *command,
                                   bean_body_fn finish);

// Passes over a body of so many bytes, and then answers.
void bean_body_skip(struct bean_conn *conn, uint32_t bytes, enum bean_answer answer);

// BEAN_BODY, BEAN_SKIP: takes what has arrived.
enum step bean_body_step(struct bean_conn *conn, struct feed_turn *turn);
enum step bean_skip_step(struct bean_conn *conn, struct feed_turn *turn);

// BEAN_BODY: the body that is received, and how many bytes it has taken up.
struct intake *bean_body_intake(struct bean_conn *conn);
size_t bean_body_holds(const struct bean_conn *conn);

// The connection is gone in the middle of a body.
void bean_body_discard(struct bean_conn *conn);

#endif
