/* SPDX-License-Identifier: MIT */
#include "core/base/memory.h"

#include <stdint.h>
#include <stdlib.h>

struct memory_marks memory_marks = {
    .short_at = SIZE_MAX, .crowded_at = SIZE_MAX, .limit = SIZE_MAX};

void memory_set_limit(size_t bytes)
{
    atomic_store(&memory_marks.short_at, bytes ? bytes - bytes / 16 : SIZE_MAX);
    atomic_store(&memory_marks.crowded_at, bytes ? bytes - bytes / 32 : SIZE_MAX);
    atomic_store(&memory_marks.limit, bytes ? bytes : SIZE_MAX);
}

bool memory_has_room(size_t bytes)
{
    size_t memory_count_block = memory_counted();
    size_t short_at = memory_read(&memory_marks.short_at);

    return memory_count_block <= short_at && bytes <= short_at - memory_count_block;
}

size_t memory_counted_of(enum memory_kind kind)
{
    size_t told = 0;

    if (kind != MEMORY_OTHER) {
        return memory_read(&memory_marks.by_kind[kind]);
    }
    for (size_t i = 0; i < MEMORY_KINDS_TOLD; i++) {
        told += memory_read(&memory_marks.by_kind[i]);
    }
    // Other threads may count at the same time.
    return memory_counted() > told ? memory_counted() - told : 0;
}

const char *memory_kind_word(enum memory_kind kind)
{
    static const char *const words[] = {
#define X(name, word) [name] = (word),
        MEMORY_KINDS(X)
#undef X
    };

    return words[kind];
}

// Counts a block unless it is NULL, and returns it.
static void *memory_count_block(enum memory_kind kind, void *block, size_t size)
{
    if (block) {
        memory_count_of(kind, size);
    }
    return block;
}

void *memory_alloc_of(enum memory_kind kind, size_t size)
{
    return memory_count_block(kind, malloc(size), size);
}

void *memory_zeroed_of(enum memory_kind kind, size_t size)
{
    return memory_count_block(kind, calloc(1, size), size);
}

void *memory_resize_of(enum memory_kind kind, void *block, size_t old_size, size_t size)
{
    void *resized = memory_count_block(kind, realloc(block, size), size);

    if (resized) {
        memory_uncount_of(kind, old_size);
    }
    return resized;
}

void memory_free_of(enum memory_kind kind, void *block, size_t size)
{
    if (block) {
        memory_uncount_of(kind, size);
        free(block);
    }
}

void *memory_alloc(size_t size)
{
    return memory_alloc_of(MEMORY_OTHER, size);
}

void *memory_zeroed(size_t size)
{
    return memory_zeroed_of(MEMORY_OTHER, size);
}

void *memory_resize(void *block, size_t old_size, size_t size)
{
    return memory_resize_of(MEMORY_OTHER, block, old_size, size);
}

void memory_free(void *block, size_t size)
{
    memory_free_of(MEMORY_OTHER, block, size);
}
