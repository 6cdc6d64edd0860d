/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_EXEC_H
#define TANDEM_PROTO_BEANSTALK_EXEC_H

// What each command does: a small function for each, found in a table. Those that take more than
// that are in files of their own: put.c, reserve.c, batch.c, report.c, clear.c, stats.c, listing.c.

#include "proto_beanstalk/conn.h"

// Carries out the command on `line`, a line without its CRLF, and answers it or leaves the
// connection in the state in which it will be answered. `turn` is what follows the line.
void bean_exec(struct bean_conn *conn, struct slice line, struct feed_turn *turn);

// BEAN_KICKING: kicks the next jobs, and answers after the last.
enum step bean_kick_step(struct bean_conn *conn);

#endif
