/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_PUT_H
#define TANDEM_PROTO_BEANSTALK_PUT_H

// `put` and `put-unique`: a line and a body (body.h) make a job. A `put-unique` has a key, and
// joins the live job of its tube that has the same one.

#include "proto_beanstalk/conn.h"

// The line has been read; takes what there is of the body.
void bean_put_begin(struct bean_conn *conn, const struct bean_command *command,
                    struct feed_turn *turn);

#endif
