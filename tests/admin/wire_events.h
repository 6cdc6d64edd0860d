/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_ADMIN_WIRE_EVENTS_H
#define TANDEM_TESTS_ADMIN_WIRE_EVENTS_H

// A stream of events, as its client reads it: chunks and events are taken apart to the byte.

#include "tests/admin/wire_admin.h"

#include <jansson.h>

// What was heard, and how far it was read.
struct events {
    struct peer *peer;
    char *text;      // events as they came, without chunks; a NUL follows
    size_t len, at;  // of the text, and what was read of it
    uint64_t number; // of the last event that was read
    json_t *data;    // and its data; NULL: none was
    bool ended;      // the last chunk has come
};

// Opens a stream, and fails where it is not opened. events_close() frees what the test keeps of it.
#define events_open(peer, target) events_open_at((peer), (target), __FILE__, __LINE__)
struct events *events_open_at(struct peer *peer, const char *target, const char *file, int line);
void events_close(struct events *events);

// Reads on to the next event of that name; its data is in `data`, until the next one is read. Fails
// where none has come.
#define events_next(events, name) events_next_at((events), (name), __FILE__, __LINE__)
void events_next_at(struct events *events, const char *name, const char *file, int line);

// Reads all that has come; how many events of that name there were.
size_t events_count(struct events *events, const char *name);

#endif
