/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_REPORT_H
#define TANDEM_PROTO_BEANSTALK_REPORT_H

// `complete` and `progress`: what a worker tells those who wait for its job, whatever protocol they
// speak.

#include "proto_beanstalk/conn.h"

// `complete`: the line has been read; takes what there is of the result.
void bean_complete_begin(struct bean_conn *conn, const struct bean_command *command,
                         struct feed_turn *turn);

void bean_progress(struct bean_conn *conn, const struct bean_command *command);

#endif
