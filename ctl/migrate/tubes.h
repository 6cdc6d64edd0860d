/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_TUBES_H
#define TANDEM_CTL_MIGRATE_TUBES_H

// The tubes of the source that are moved, and their numbers of jobs.

#include "ctl/migrate/migration_private.h"

struct tube {
    char name[204]; // a string
    uint64_t ready, delayed, buried, reserved;
    bool paused;
    bool stuck; // the first of its jobs cannot be moved
};

struct tubes {
    struct tube *list; // sorted by name
    size_t count;
    uint64_t ready, delayed, buried, reserved, in_paused; // sums over the tubes
};

// Asks the source for all tubes. False with a problem.
bool tubes_ask(struct migration *migration);
// The tube of that name, which is added if it is missing: for the queues of a Tandem's batch.
struct tube *tubes_make(struct tubes *tubes, struct slice name);
// NULL: no tube that is moved has the name.
struct tube *tubes_find(const struct tubes *tubes, struct slice name);
void tubes_free(struct tubes *tubes);

#endif
