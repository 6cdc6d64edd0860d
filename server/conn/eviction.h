/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_EVICTION_H
#define TANDEM_SERVER_CONN_EVICTION_H

// The eviction of connections when clients have made the process grow to its memory limit
// (core/base/memory.h). The log says when memory becomes short and when that is over. Beyond the
// limit, connections are closed that hold most, and more than the mean, until an eighth of the
// limit is free. If most of the memory belongs to jobs, only some connections are closed at a time;
// if jobs alone exceed the limit, none is, as workers are needed to end jobs. A connection that
// holds nothing is never closed.
//
// Eviction takes two passes over all connections, each a slice in a turn: one measures them, and
// one closes the ones that hold enough. Then freed memory is returned to the system, which would
// otherwise have it twice: in the allocator, and in slabs made instead.

#include "core/base/nsec.h"

#include <stdbool.h>
#include <stddef.h>

struct turn;

// Size classes: eight between a power of two and the next.
#define EVICTION_CLASSES (61 * 8)

enum eviction_stage { EVICTION_RESTS, EVICTION_WEIGHS, EVICTION_CLOSES };

struct eviction {
    enum eviction_stage stage;     /* private */
    bool told;                     /* private: it was logged that memory is short */
    unsigned waits;                /* private: turns before it begins again */
    nsec_t rests_until;            /* private: while there is nothing to close */
    size_t all;                    /* private: connections measured in this pass */
    size_t held;                   /* private: bytes that they hold */
    size_t sums[EVICTION_CLASSES]; /* private: the same by size class */
    size_t least;                  /* private: connections that hold at least this are closed ... */
    size_t excess;                 /* private: ... until this many bytes are freed */
    size_t peak;                   /* private: most bytes since memory was returned to the system */
};

// Called at the end of each turn. True: it has more to do, which no event will report.
bool eviction_step(struct eviction *eviction, struct turn *turn);

#endif
