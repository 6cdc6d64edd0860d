/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_STREAM_H
#define TANDEM_PROTO_HTTP_STREAM_H

// An answer as server-sent events: what happens to the job, as it happens. Each event's data is one
// JSON object; bytes that are not UTF-8 are in base64, and marked so.

#include "core/broker.h"

#include "proto_http/context.h"

#include <stdbool.h>

// Sends the head and the event `created`.
void web_stream_begin(struct http1_conn *conn);

// Sends the event, or has it wait for its turn. True: the stream has ended.
bool web_stream_event(struct http1_conn *conn, const struct job_event *event);

// It was silent for HTTP1_QUIET_FOR: sends a comment.
void web_stream_comment(struct http1_conn *conn);

// Ends the stream with the event `timeout`. True: it has ended; else that waits for its turn.
bool web_stream_timeout(struct http1_conn *conn);

// Ends the stream at once, with the event `fail`, for that reason, unless its end waits already.
void web_stream_fail(struct http1_conn *conn, const char *why);

// Sends a slice of the events that wait. False: none does. `*ended`: the stream has.
bool web_stream_step(struct http1_conn *conn, bool *ended);

#endif
