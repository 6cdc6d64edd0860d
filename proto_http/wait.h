/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_WAIT_H
#define TANDEM_PROTO_HTTP_WAIT_H

// A request that waits for its job: gathers the result, and answers at the end.

#include "core/base/macros.h"
#include "core/broker.h"
#include "http1/user.h"

#include "proto_http/web_request.h"

#include <stdbool.h>

// Begins the wait for a job that was submitted; `submission` has its watch.
void web_wait_begin(struct http1_conn *conn, const struct submission *submission);

// Of the connection's session, which receives only events of its job.
extern const struct session_ops web_session_ops;

// Of struct http1_user: `step`, which writes the events of a stream, `expired` and `stopping`.
enum http1_progress web_wait_step(struct http1_conn *conn, struct feed_turn *turn) MUST_USE;
bool web_wait_expired(struct http1_conn *conn) MUST_USE;
void web_wait_stopped(struct http1_conn *conn);

#endif
