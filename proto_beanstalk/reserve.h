/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_RESERVE_H
#define TANDEM_PROTO_BEANSTALK_RESERVE_H

// `reserve` and its kin: a ready job at once, or a wait that ends with a job, with TIMED_OUT, or
// with DEADLINE_SOON, because the TTR of a job that the same connection holds is about to run out.

#include "proto_beanstalk/conn.h"

// What the broker calls when the wait of a connection is over.
extern const struct session_ops bean_session_ops;

void bean_reserve(struct bean_conn *conn, const struct bean_command *command);
void bean_reserve_with_timeout(struct bean_conn *conn, const struct bean_command *command);
void bean_reserve_job(struct bean_conn *conn, const struct bean_command *command);

// The peer sends nothing more: a reserve that waits is answered TIMED_OUT.
void bean_reserve_half_closed(struct bean_conn *conn);

#endif
