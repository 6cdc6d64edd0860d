/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_ADMIN_WIRE_EVENTS_H
#define TANDEM_TESTS_ADMIN_WIRE_EVENTS_H

// An event stream as its client reads it. Chunks and events are parsed strictly.

#include "tests/admin/wire_admin.h"

#include <jansson.h>

// The received text, and the position in it.
struct events {
    struct peer *peer;
    char *text;      // events without chunks; a NUL follows
    size_t len, at;  // of the text, and the bytes that were read
    uint64_t number; // of the last event that was read
    json_t *data;    // and its data, or NULL
    bool ended;      // the last chunk was received
};

// Opens a stream, or fails. events_close() frees its memory in the test.
#define events_open(peer, target) events_open_at((peer), (target), __FILE__, __LINE__)
struct events *events_open_at(struct peer *peer, const char *target, const char *file, int line);
void events_close(struct events *events);

// Reads up to the next event of that name; its data is in `data` until the next one is read. Fails
// if there is none.
#define events_next(events, name) events_next_at((events), (name), __FILE__, __LINE__)
void events_next_at(struct events *events, const char *name, const char *file, int line);

// Reads everything received; returns the number of events of that name.
size_t events_count(struct events *events, const char *name);

#endif
