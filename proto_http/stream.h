/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_STREAM_H
#define TANDEM_PROTO_HTTP_STREAM_H

// An answer as server-sent events: what happens to the job, as it happens. Each event's data is one
// JSON object; bytes that are not UTF-8 are in base64, and marked so.

#include "core/broker.h"

#include "proto_http/context.h"

#include <stdbool.h>

// Sends the head and the event `created`.
void web_stream_begin(struct web_conn *conn);

// Sends the event. True: it was the last one.
bool web_stream_event(struct web_conn *conn, const struct job_event *event);

// Ends the stream with the event `timeout`; with the event `fail`, for that reason.
void web_stream_timeout(struct web_conn *conn);
void web_stream_fail(struct web_conn *conn, const char *why);

#endif
