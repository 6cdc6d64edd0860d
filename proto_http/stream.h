/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_STREAM_H
#define TANDEM_PROTO_HTTP_STREAM_H

// An answer as server-sent events: the events of the job, as they happen. The data of each is one
// JSON object; bytes that are not UTF-8 are in base64, with a member that says so.

#include "core/broker.h"

#include "proto_http/context.h"

#include <stdbool.h>

// Sends the head and the event `created`.
void web_stream_begin(struct http1_conn *conn);

// Sends or queues the event. True: the stream has ended.
bool web_stream_event(struct http1_conn *conn, const struct job_event *event);

// The stream was silent for HTTP1_QUIET_FOR: sends a comment.
void web_stream_comment(struct http1_conn *conn);

// Ends the stream with the event `timeout`. True: it has ended; false: the event is queued.
bool web_stream_timeout(struct http1_conn *conn);

// Ends the stream at once with the event `fail` and that reason, unless its end is queued.
void web_stream_fail(struct http1_conn *conn, const char *why);

// Sends a slice of the queued events. False: none is queued. Sets `*ended` if the stream has ended.
bool web_stream_step(struct http1_conn *conn, bool *ended);

#endif
