/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_EVENT_QUEUE_H
#define TANDEM_PROTO_HTTP_EVENT_QUEUE_H

// The events of a stream that are still to be written. Short ones are written when they happen. One
// with long data, and all that come behind it, wait here and are written in slices, as the
// connection has its turns and the client reads: until then, a long one is a reference to its data.
//
// The data of an event is a JSON object. Long data is the last of its strings: as it is, where it
// is UTF-8, else in base64, and marked so.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "proto_common/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct web_event;

// All zero to begin with.
struct web_events {
    struct web_event *first; /* private */
    struct web_event *last;  /* private */
    size_t waiting;          // bytes that wait, about
    uint64_t written;        // how many events have been begun to be written
    bool chunked;            // the stream is in chunks
};

// Whether nothing waits: what is short can be written at once.
static inline bool web_events_empty(const struct web_events *events)
{
    return !events->first;
}

// Writes an event whose whole data is `text`, a JSON object. Nothing waits.
void web_events_write(struct web_events *events, struct output *out, const char *name,
                      const char *text);

// The event has its turn behind all others, and waits for that position of the store (0: for none).
// `text`, a JSON object that is not empty, is taken, and freed; of `data`, which may be NULL, a
// reference is kept. `name` is static. False without memory; `text` is freed then, too.
bool web_events_add(struct web_events *events, const char *name, char *text, struct blob *data,
                    uint64_t position) MUST_USE;

// Writes a slice of what waits, which must not be nothing.
void web_events_step(struct web_events *events, struct output *out);

// Drops what waits.
void web_events_clear(struct web_events *events);

#endif
