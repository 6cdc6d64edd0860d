/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_STREAM_H
#define TANDEM_PROTO_HTTP_STREAM_H

// An answer as server-sent events: the events of the job, as they happen. Short events are written
// when they happen. An event with long data, and all events after it, are queued here and written
// in slices, as the connection has turns and the client reads. Until then, long data is only
// referenced.
//
// The data of an event is a JSON object. Long data is its last string: unchanged if it is UTF-8,
// otherwise in base64, with a member that says so.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/broker.h"
#include "proto_common/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http1_conn;
struct web_event;

// The events that are not yet written. All zero at first.
struct web_events {
    struct web_event *first; /* private */
    struct web_event *last;  /* private */
    size_t waiting;          // bytes queued, approximately
    uint64_t written;        // events whose writing has begun
    bool chunked;            // the stream is in chunks
};

// Whether no event is queued, so that a short one can be written at once.
static inline bool web_events_empty(const struct web_events *events)
{
    return !events->first;
}

// Writes an event whose data is `text`, a JSON object. The queue must be empty.
void web_events_write(struct web_events *events, struct output *out, const char *name,
                      const char *text);

// Queues an event, which is sent once the store has reached `position` (0: at any time). Takes
// ownership of `text`, a JSON object with a member, and keeps a reference to `data`, which may be
// NULL. `name` is static. False without memory; `text` is freed then, too.
bool web_events_add(struct web_events *events, const char *name, char *text, struct blob *data,
                    uint64_t position) MUST_USE;

// Writes a slice of the queue, which must not be empty.
void web_events_step(struct web_events *events, struct output *out);

// Discards the queue.
void web_events_clear(struct web_events *events);

//
// The stream
//

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
