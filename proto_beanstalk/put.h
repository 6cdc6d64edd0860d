/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_PUT_H
#define TANDEM_PROTO_BEANSTALK_PUT_H

// `put`: the line, the body, the CRLF behind it. A body that lies complete in the input is
// submitted from there; another is gathered as it arrives, so that an announced size costs
// nothing. A body that is refused (too big, no memory) is skipped first, and answered then.

#include "proto_beanstalk/conn.h"

#include <stddef.h>

// The line has been read; takes what there is of the body.
void bean_put_begin(struct bean_conn *conn, const struct bean_command *command,
                    struct feed_turn *turn);

// BEAN_BODY, BEAN_SKIP: takes what has arrived.
enum step bean_put_step(struct bean_conn *conn, struct feed_turn *turn);
enum step bean_skip_step(struct bean_conn *conn, struct feed_turn *turn);

// BEAN_BODY: the body that is received.
struct intake *bean_put_intake(struct bean_conn *conn);

// The connection is gone in the middle of a body.
void bean_put_discard(struct bean_conn *conn);

#endif
