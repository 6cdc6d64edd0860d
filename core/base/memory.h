/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_MEMORY_H
#define TANDEM_CORE_BASE_MEMORY_H

// Accounting and limit of the memory that clients can make grow. Memory is counted when it comes
// from the system, or from malloc in large pieces: a slab block while it is mapped, even if it is
// empty, because it is resident; a large blob, a part of a table, a connection or a batch by its
// own size. A small object in a slab costs no accounting.
//
// There is one count for the process, because threads allocate, too. It is atomic, with relaxed
// order.
//
// There are three marks, each of which is passed when more bytes are counted. Above the first,
// memory is short: new work is refused, so that a sixteenth is left for work in progress. Above the
// second, it is crowded: new connections and subscriptions are refused, too. Above the limit, some
// memory must be freed. Without a limit, no mark is ever passed.

#include "core/base/macros.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// The use of the memory. Small or few objects have no kind of their own.
#define MEMORY_KINDS(X)                                                                            \
    X(MEMORY_JOBS, "jobs") /* with queues, sessions and their parts */                             \
    X(MEMORY_BODIES, "bodies")                                                                     \
    X(MEMORY_INDEXES, "indexes") /* to find jobs and queues */                                     \
    X(MEMORY_MEMOS, "memos")     /* remembered besides jobs */                                     \
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
// All kinds but MEMORY_OTHER, which is the rest.
#define MEMORY_KINDS_TOLD MEMORY_OTHER

struct memory_marks {
    atomic_size_t counted; // bytes
    atomic_size_t by_kind[MEMORY_KINDS_TOLD];
    atomic_size_t short_at;
    atomic_size_t crowded_at;
    atomic_size_t limit; // SIZE_MAX: no limit
};

extern struct memory_marks memory_marks; /* private */

// Sets the limit in bytes; 0: no limit. May be called at any time, by one thread.
void memory_set_limit(size_t bytes);

static inline size_t memory_read(const atomic_size_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static inline size_t memory_counted(void)
{
    return memory_read(&memory_marks.counted);
}

// The limit in bytes; SIZE_MAX: no limit.
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

// Whether memory would not be short with that many more bytes.
bool memory_has_room(size_t bytes);

// Count bytes that were allocated, or freed.
static inline void memory_count(size_t bytes)
{
    atomic_fetch_add_explicit(&memory_marks.counted, bytes, memory_order_relaxed);
}

static inline void memory_uncount(size_t bytes)
{
    atomic_fetch_sub_explicit(&memory_marks.counted, bytes, memory_order_relaxed);
}

// The same for a kind.
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

// The bytes counted for the kind; for MEMORY_OTHER, those of no other kind.
size_t memory_counted_of(enum memory_kind kind);

// The name of the kind; static.
const char *memory_kind_word(enum memory_kind kind);

// Counted malloc, calloc of one object, realloc and free. A size to free must be the size that was
// requested. NULL: no memory; a block to be resized is unchanged.
void *memory_alloc(size_t size) MUST_USE;
void *memory_zeroed(size_t size) MUST_USE;
void *memory_resize(void *block, size_t old_size, size_t size) MUST_USE;
void memory_free(void *block, size_t size);

// The same for a kind.
void *memory_alloc_of(enum memory_kind kind, size_t size) MUST_USE;
void *memory_zeroed_of(enum memory_kind kind, size_t size) MUST_USE;
void *memory_resize_of(enum memory_kind kind, void *block, size_t old_size, size_t size) MUST_USE;
void memory_free_of(enum memory_kind kind, void *block, size_t size);

#endif
