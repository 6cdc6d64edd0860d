/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_EVENT_QUEUE_H
#define TANDEM_PROTO_HTTP_EVENT_QUEUE_H

// The events of a stream that are not yet written. Short events are written when they happen. An
// event with long data, and all events after it, are queued here and written in slices, as the
// connection has turns and the client reads. Until then, long data is only referenced.
//
// The data of an event is a JSON object. Long data is its last string: unchanged if it is UTF-8,
// otherwise in base64, with a member that says so.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "proto_common/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct web_event;

// All zero at first.
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

#endif
