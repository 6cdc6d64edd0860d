/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_EXEC_H
#define TANDEM_PROTO_BEANSTALK_EXEC_H

// Commands, carried out: one small function for each, from a table.

#include "proto_beanstalk/conn.h"

// Carries out the command on `line`, a line without its CRLF, and answers it or leaves the
// connection in the state in which it will be answered. `turn` is what follows the line.
void bean_exec(struct bean_conn *conn, struct slice line, struct feed_turn *turn);

// BEAN_KICKING: kicks a slice more.
enum step bean_kick_step(struct bean_conn *conn);

#endif
