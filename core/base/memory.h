/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_MEMORY_H
#define TANDEM_CORE_BASE_MEMORY_H

// How many bytes of memory the process has for what clients can make grow, and how many it may
// have. They are counted where memory comes from the system or from malloc in large pieces: a block
// of a slab when it is mapped and when it goes back, empty or not, since so long it is resident; a
// large blob, a part of a table, a connection, a batch by its own size. A small thing in a slab
// costs nothing to count.
//
// One count for the process: threads allocate, too. It is atomic, and orders nothing.
//
// Three marks, of which each is passed when more than it is counted. Beyond the first, memory is
// short: new work is refused, so that a sixteenth is left for what is at work already. Beyond the
// second, it is crowded: what comes to do work is refused, too. Beyond the limit, some has to go.
// Without a limit none is ever passed.

#include "core/base/macros.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// What it is for. What few or small things take is of no kind of its own.
#define MEMORY_KINDS(X)                                                                            \
    X(MEMORY_JOBS, "jobs") /* with queues, sessions and what belongs to them */                    \
    X(MEMORY_BODIES, "bodies")                                                                     \
    X(MEMORY_INDEXES, "indexes") /* by which jobs and queues are found */                          \
    X(MEMORY_MEMOS, "memos")     /* what is remembered besides jobs */                             \
    X(MEMORY_CONNECTIONS, "connections")                                                           \
    X(MEMORY_INPUT, "input")                                                                       \
    X(MEMORY_OUTPUT, "output")                                                                     \
    X(MEMORY_JOURNAL, "journal")                                                                   \
    X(MEMORY_OTHER, "other")
enum memory_kind {
#define X(name, word) name,
    MEMORY_KINDS(X)
#undef X
};
// All but the last, which is the rest.
#define MEMORY_KINDS_TOLD MEMORY_OTHER

struct memory_marks {
    atomic_size_t counted; // bytes
    atomic_size_t by_kind[MEMORY_KINDS_TOLD];
    atomic_size_t short_at;
    atomic_size_t crowded_at;
    atomic_size_t limit; // SIZE_MAX: none
};

extern struct memory_marks memory_marks; /* private */

// Sets the limit to so many bytes; 0: none. At any time, by one thread.
void memory_set_limit(size_t bytes);

static inline size_t memory_read(const atomic_size_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

// Bytes that are counted.
static inline size_t memory_counted(void)
{
    return memory_read(&memory_marks.counted);
}

// SIZE_MAX where there is none.
static inline size_t memory_limit(void)
{
    return memory_read(&memory_marks.limit);
}

static inline bool memory_is_short(void)
{
    return memory_counted() > memory_read(&memory_marks.short_at);
}

static inline bool memory_is_crowded(void)
{
    return memory_counted() > memory_read(&memory_marks.crowded_at);
}

static inline bool memory_is_over(void)
{
    return memory_counted() > memory_limit();
}

// Whether so many more bytes would not make it short.
bool memory_has_room(size_t bytes);

// So many bytes were allocated, or given back.
static inline void memory_count(size_t bytes)
{
    atomic_fetch_add_explicit(&memory_marks.counted, bytes, memory_order_relaxed);
}

static inline void memory_uncount(size_t bytes)
{
    atomic_fetch_sub_explicit(&memory_marks.counted, bytes, memory_order_relaxed);
}

// The same of a kind.
static inline void memory_count_of(enum memory_kind kind, size_t bytes)
{
    memory_count(bytes);
    if (kind != MEMORY_OTHER) {
        atomic_fetch_add_explicit(&memory_marks.by_kind[kind], bytes, memory_order_relaxed);
    }
}

static inline void memory_uncount_of(enum memory_kind kind, size_t bytes)
{
    memory_uncount(bytes);
    if (kind != MEMORY_OTHER) {
        atomic_fetch_sub_explicit(&memory_marks.by_kind[kind], bytes, memory_order_relaxed);
    }
}

// Bytes of a kind that are counted.
size_t memory_counted_of(enum memory_kind kind);

// The word for it; static.
const char *memory_kind_word(enum memory_kind kind);

// malloc, calloc of one thing, realloc and free, counted. The size that is given back is that which
// was asked for. NULL without memory; what was to be resized stays then.
void *memory_alloc(size_t size) MUST_USE;
void *memory_zeroed(size_t size) MUST_USE;
void *memory_resize(void *block, size_t old_size, size_t size) MUST_USE;
void memory_free(void *block, size_t size);

// The same of a kind.
void *memory_alloc_of(enum memory_kind kind, size_t size) MUST_USE;
void *memory_zeroed_of(enum memory_kind kind, size_t size) MUST_USE;
void *memory_resize_of(enum memory_kind kind, void *block, size_t old_size, size_t size) MUST_USE;
void memory_free_of(enum memory_kind kind, void *block, size_t size);

#endif
