/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_EVENT_SOURCE_H
#define TANDEM_ADMIN_EVENT_SOURCE_H

// What a stream of events (events.h) can show: each kind of event has a source, which makes its
// documents. The stream asks its sources in rounds, at most one in a second, and says what has
// changed since it said it last.

#include "core/status.h"
#include "http1/context.h"

#include "admin/input.h"

#include <stdbool.h>
#include <stddef.h>

// A document and the event that it is the data of. A source without state has nothing to show in
// this stream.
struct event_source {
    // What the query asks for. NULL where it asks for nothing of this source, and where something
    // is wrong, which is noted.
    void *(*open)(struct input *input);
    // The next event of this round, or a slice of the work on it, about BROKER_SLICE things.
    // STATUS_OK: `*event` is its name, static, and `*text` its document in one line, for free();
    // STATUS_NO_MEMORY; STATUS_MORE: a slice is over; STATUS_EMPTY: that was all, and the next call
    // begins another round.
    enum status (*make)(struct http1_conn *conn, void *state, const char **event, char **text);
    void (*close)(void *state);
    // Bytes beyond what is static. In constant time; NULL: they are not worth to be counted.
    size_t (*holds)(const void *state);
    // Each document is news: otherwise the stream says those only that differ from the last one.
    bool always;
};

// All of them, NULL at the end; and the names of their parameters, NULL at the end, too.
#define EVENT_SOURCES_MAX 4
extern const struct event_source *const event_sources[EVENT_SOURCES_MAX + 1];
extern const char *const event_parameters[];

#endif
