/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_RESERVE_H
#define TANDEM_PROTO_BEANSTALK_RESERVE_H

// Reserving: a ready job at once, or a wait that ends with a job, with its time, or because a lease
// of the same connection is about to end.

#include "proto_beanstalk/conn.h"

// How the broker tells a connection that its wait is over.
extern const struct session_ops bean_session_ops;

void bean_reserve(struct bean_conn *conn, const struct bean_command *command);
void bean_reserve_with_timeout(struct bean_conn *conn, const struct bean_command *command);
void bean_reserve_job(struct bean_conn *conn, const struct bean_command *command);

// The peer sends nothing more: a reserve that would wait on is over.
void bean_reserve_half_closed(struct bean_conn *conn);

#endif
