/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_WORK_H
#define TANDEM_PROTO_HTTP_WORK_H

// Requests for work: POST /-/work?queue=...; the answer has a job of one of those queues, or, as a
// batch, several, each with a lease. A request may wait for the first of them.

#include "core/base/macros.h"
#include "http1/user.h"

#include "proto_http/context.h"
#include "proto_http/request.h"

#include <stdbool.h>

// Once the caller is known: looks at what the query asks for, and whether the caller may work on
// all of its queues. False: answered.
bool web_work_check(struct http1_conn *conn, const struct http1_fields *fields,
                    const struct http1_framing *framing) MUST_USE;

// Of struct http1_user, for these requests: `complete`, `step` and `stopping`.
enum http1_next web_work_begin(struct http1_conn *conn) MUST_USE;
enum http1_progress web_work_step(struct http1_conn *conn, struct feed_turn *turn) MUST_USE;
void web_work_stopped(struct http1_conn *conn);

// What the caller of the connection may do has changed. GRANT_LOST: the request waits for a job,
// and has lost a queue.
enum grant_progress web_work_granted(struct http1_conn *conn, struct grants *grants);

// Ends the wait, or the answer: jobs that were not handed over go back as if it had not had them.
void web_work_forget(struct web_work *work);

// The connection closes: so do those of answers of which nothing has left.
void web_work_undelivered(struct http1_conn *conn);

// How many bytes of memory it keeps beyond its struct.
size_t web_work_holds(const struct web_work *work);

#endif
