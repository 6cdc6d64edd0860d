/* SPDX-License-Identifier: MIT */
#include "server/net/seats.h"

#include <stdlib.h>
#include <sys/resource.h>

// Where the process may have more, those above are of no kind.
#define DESCRIPTORS_MOST ((size_t)1 << 22)

bool seats_init(struct seats *seats)
{
    struct rlimit files;

    // The limit that is in force may still be raised to the other one.
    seats->descriptors = DESCRIPTORS_MOST;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max < DESCRIPTORS_MOST) {
        seats->descriptors = (size_t)files.rlim_max;
    }
    // Pages that no descriptor stands in are never touched.
    seats->kind_of = calloc(seats->descriptors, sizeof *seats->kind_of);
    return seats->kind_of != NULL;
}

void seats_clear(struct seats *seats)
{
    free(seats->kind_of);
    seats->kind_of = NULL;
}

void seats_take(struct seats *seats, int fd, unsigned kind)
{
    if ((size_t)fd < seats->descriptors) {
        atomic_store_explicit(&seats->kind_of[fd], (uint8_t)(kind + 1), memory_order_relaxed);
        atomic_fetch_add_explicit(&seats->taken[kind], 1, memory_order_relaxed);
    }
}

void seats_leave(struct seats *seats, int fd)
{
    unsigned kind = 0;

    if ((size_t)fd < seats->descriptors) {
        kind = atomic_exchange_explicit(&seats->kind_of[fd], 0, memory_order_relaxed);
    }
    if (kind > 0) {
        atomic_fetch_sub_explicit(&seats->taken[kind - 1], 1, memory_order_relaxed);
    }
}

bool seats_administer(const struct seats *seats, unsigned kind)
{
    return frontends[kind]->administers &&
           atomic_load_explicit(&seats->taken[kind], memory_order_relaxed) <= SEATS_RESERVED;
}

static uint64_t reserved_of(unsigned kind, uint64_t most)
{
    uint64_t reserved = most / 64 < SEATS_RESERVED ? most / 64 : SEATS_RESERVED;
    uint64_t least = most / 4 < SEATS_OPERATORS ? most / 4 : SEATS_OPERATORS;
    bool administers = kind < FRONTENDS && frontends[kind]->administers;

    return administers && reserved < least ? least : reserved;
}

unsigned seats_full(const struct seats *seats, uint64_t open, uint64_t most)
{
    uint64_t left = most > open ? most - open : 0;
    uint64_t unused[SEATS_KINDS]; // of those that are the kind's own
    uint64_t unused_sum = 0;
    unsigned full = 0;

    if (left > SEATS_KINDS * SEATS_RESERVED) {
        return 0;
    }
    for (unsigned kind = 0; kind < SEATS_KINDS; kind++) {
        uint64_t taken = atomic_load_explicit(&seats->taken[kind], memory_order_relaxed);
        uint64_t reserved = reserved_of(kind, most);

        unused[kind] = seats->listened & 1u << kind && taken < reserved ? reserved - taken : 0;
        unused_sum += unused[kind];
    }
    for (unsigned kind = 0; kind < SEATS_KINDS; kind++) {
        if (left == 0 || (unused[kind] == 0 && left <= unused_sum)) {
            full |= 1u << kind;
        }
    }
    return full;
}
