/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CHORES_H
#define TANDEM_SERVER_CHORES_H

// What is done in the background, a slice in a turn, whatever connections do: front-ends have such
// work (frontend->work), and so has whoever else works on jobs by himself. Where nobody has, a turn
// pays for a look at a pointer.

#include "core/base/nsec.h"
#include "server/store.h"

struct turn;

// Embedded by whoever does it.
struct chore {
    // Asked in each turn, in constant time: the moment at which a slice is wanted, monotonic; one
    // that has come means at once, NSEC_NEVER not at all.
    nsec_t (*due)(const void *context);
    // Makes the slice; like a feed, it may call verbs.
    void (*work)(void *context);
    void *context;
    // Under more pressure of the store than this there is none: as clients that submit, or that end
    // jobs, it waits.
    enum store_pressure most;
    bool for_operators; // it goes on while nobody else is served (turn->fenced)
    struct chore *next; /* private: in turn->chores */
};

// There may be such work from now on in each turn, until it is removed. Not by a chore at work.
void chores_add(struct turn *turn, struct chore *chore);

// There is no more. One that was not added is no error.
void chores_remove(struct turn *turn, const struct chore *chore);

// When the first of them is due; NSEC_NEVER: none is.
nsec_t chores_due(const struct turn *turn);

// A slice of each that is due.
void chores_work(const struct turn *turn);

#endif
