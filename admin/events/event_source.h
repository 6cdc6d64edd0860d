/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_EVENTS_EVENT_SOURCE_H
#define TANDEM_ADMIN_EVENTS_EVENT_SOURCE_H

// The sources of an event stream (event_stream.h): each makes the documents of one kind of event.
// The stream calls its sources in rounds, at most one per second, and sends documents that have
// changed.

#include "core/status.h"
#include "http1/http1_conn.h"

#include "admin/request/input.h"

#include <stdbool.h>
#include <stddef.h>

struct event_source {
    // Reads the query and returns the state of the source in this stream. NULL if the query does
    // not ask for this source, or has an error, which is noted.
    void *(*open)(struct input *input);
    // Makes the next event of the round, or does a slice of the work, about BROKER_SLICE items.
    // STATUS_OK: `*event` is a static name and `*text` the document in one line, to be freed with
    // free(); STATUS_NO_MEMORY; STATUS_MORE: call again; STATUS_EMPTY: the round is over, and the
    // next call begins another one.
    enum status (*make)(struct http1_conn *conn, void *state, const char **event, char **text);
    void (*close)(void *state);
    // The memory of the state in bytes, in constant time; NULL if it is negligible.
    size_t (*holds)(const void *state);
    // Sends every document; otherwise only those that differ from the last one.
    bool always;
};

// All sources, and the names of their parameters; both end with NULL.
#define EVENT_SOURCES_MAX 4
extern const struct event_source *const event_sources[EVENT_SOURCES_MAX + 1];
extern const char *const event_parameters[];

#endif
