/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PROGRESS_H
#define TANDEM_JOURNAL_PROGRESS_H

// What another thread sees of the one that opens a journal, how far it has read, and what it may
// tell it: to stop. All of it can be looked at and set at any time.

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
    atomic_bool stop;
    atomic_uint_least64_t read; // bytes
    atomic_uint_least64_t size; // of the files that are read; 0: not known yet
    atomic_uint_least64_t jobs; // that the broker has been given back, about
};

static inline bool progress_stops(const struct progress *progress)
{
    return atomic_load_explicit(&progress->stop, memory_order_relaxed);
}

static inline void progress_add(struct progress *progress, uint64_t bytes)
{
    atomic_fetch_add_explicit(&progress->read, bytes, memory_order_relaxed);
}

static inline void progress_set_jobs(struct progress *progress, uint64_t jobs)
{
    atomic_store_explicit(&progress->jobs, jobs, memory_order_relaxed);
}

// So much more is there to be read, of what nobody knew before.
static inline void progress_grow(struct progress *progress, uint64_t bytes)
{
    atomic_fetch_add_explicit(&progress->size, bytes, memory_order_relaxed);
}

// The files are read from now on, and have so many bytes.
static inline void progress_begin(struct progress *progress, uint64_t size)
{
    atomic_store_explicit(&progress->read, 0, memory_order_relaxed);
    atomic_store_explicit(&progress->size, size, memory_order_relaxed);
}

#endif
