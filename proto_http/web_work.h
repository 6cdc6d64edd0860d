/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_WEB_WORK_H
#define TANDEM_PROTO_HTTP_WEB_WORK_H

// Requests for work: POST /-/work?queue=...; the answer has one job of these queues, or a batch of
// them, each with a lease. A request may wait for the first job.

#include "core/base/macros.h"
#include "http1/user.h"

#include "proto_http/web_request.h"

#include <stdbool.h>

// Once the caller is known: parses the query, and checks that the caller may work on all its
// queues. False: answered.
bool web_work_check(struct http1_conn *conn, const struct http1_fields *fields,
                    const struct http1_framing *framing) MUST_USE;

// Of struct http1_user, for these requests: `complete`, `step` and `stopping`.
enum http1_next web_work_begin(struct http1_conn *conn) MUST_USE;
enum http1_progress web_work_step(struct http1_conn *conn, struct feed_turn *turn) MUST_USE;
void web_work_stopped(struct http1_conn *conn);

// The rights of the connection's caller have changed. GRANT_LOST: the request waits for a job, and
// has lost a queue.
enum grant_progress web_work_granted(struct http1_conn *conn, struct grants *grants);

// Ends the wait or the answer: jobs not yet handed over return to their queues unchanged.
void web_work_forget(struct web_work *work);

// The connection closes: takes back the jobs of answers of which no byte has left.
void web_work_undelivered(struct http1_conn *conn);

// The memory in use beyond the struct, in bytes.
size_t web_work_holds(const struct web_work *work);

#endif
