/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_EVENTS_H
#define TANDEM_PROTO_BEANSTALK_EVENTS_H

// How the wait of a connection ends: with a job, with TIMED_OUT, or with DEADLINE_SOON, because the
// TTR of a job that the same connection holds is about to run out.

#include "proto_beanstalk/conn.h"

// What the broker calls when the wait of a connection is over.
extern const struct session_ops bean_session_ops;

// The peer sends nothing more: what waits for a job is answered TIMED_OUT.
void bean_wait_half_closed(struct bean_conn *conn);

#endif
