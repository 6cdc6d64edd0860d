/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_TUBES_H
#define TANDEM_CTL_MIGRATE_TUBES_H

// The tubes of the source that are moved, and how many jobs they have.

#include "ctl/migrate/inside.h"

struct tube {
    char name[204]; // a string
    uint64_t ready, delayed, buried, reserved;
    bool paused;
    bool stuck; // the first of its jobs cannot be moved
};

struct tubes {
    struct tube *list; // by name
    size_t count;
    // Of all tubes that are moved.
    uint64_t ready, delayed, buried, reserved, in_paused;
};

// Asks the source for all; false with a problem.
bool tubes_ask(struct migration *migration);
// The tube of that name, added where it is not there: for the queues of a Tandem's batch.
struct tube *tubes_make(struct tubes *tubes, struct slice name);
// NULL: it is not moved.
struct tube *tubes_find(const struct tubes *tubes, struct slice name);
void tubes_free(struct tubes *tubes);

#endif
