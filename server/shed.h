/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_SHED_H
#define TANDEM_SERVER_SHED_H

// What happens where clients have made the process grow to its limit (core/base/memory.h). The log
// is told when memory gets short and when it no longer is. Beyond the limit, connections are
// closed: those that hold most, and more than the mean, until an eighth of the limit is free; no
// more than some of them at a time where most of the memory is not theirs, but that of jobs. That
// takes two passes over all connections, each a slice of them in a turn: one that weighs them, and
// one that closes those that weigh as much as is needed. Connections that hold nothing are never
// closed; nor is any where jobs alone pass the limit, whose workers hold most.
//
// What is freed goes back to the system: else the same memory would be there twice, once in the
// allocator and once in what is made instead.

#include "core/base/nsec.h"

#include <stdbool.h>
#include <stddef.h>

struct turn;

// Eight sizes between a power of two and the next.
#define SHED_CLASSES (61 * 8)

enum shed_stage { SHED_RESTS, SHED_WEIGHS, SHED_CLOSES };

struct shed {
    enum shed_stage stage;     /* private */
    bool told;                 /* private: the log, that memory is short */
    unsigned waits;            /* private: turns before it begins again */
    nsec_t rests_until;        /* private: while there is nothing to close */
    size_t all;                /* private: those it has looked at */
    size_t held;               /* private: what they hold */
    size_t sums[SHED_CLASSES]; /* private: that, by how much each of them does */
    size_t least;              /* private: who holds as much is closed ... */
    size_t excess;             /* private: ... until so much is freed */
    size_t peak;               /* private: the most bytes since memory was given back */
};

// At the end of each turn. True: it has more to do, and no event will say so.
bool shed_step(struct shed *shed, struct turn *turn);

#endif
