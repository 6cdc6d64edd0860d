/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_SLAB_H
#define TANDEM_CORE_BASE_SLAB_H

// Allocator for millions of small objects. Objects of one size are adjacent in blocks from the
// system, without a header each, and a block returns to the system when its last object is freed,
// except a few. A general allocator rounds each object up, and one small object can retain all
// memory before it. Sizes and addresses are multiples of 8 bytes; sizes above SLAB_MAX are rounded
// up by up to an eighth, so that bodies and results have few sizes. Objects larger than
// SLAB_LARGEST come from malloc.
//
// With AddressSanitizer every object comes from malloc, so that it is checked. So it does with
// SLAB_OF_MALLOC, for tests that fail each allocation.

#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/memory.h"

#include <stddef.h>
#include <stdint.h>

#define SLAB_MAX 4096
#define SLAB_LARGEST (112 * 1024)
// Eight sizes between two powers of two.
#define SLAB_CLASSES (SLAB_MAX / 8 + 1 + 8 * 5)

struct slab {
    struct list_node usable[SLAB_CLASSES]; /* private: blocks with free space, by size */
    struct list_node empty;                /* private: usable blocks without objects */
    uint32_t empty_count;                  /* private */
    void *beside;                          /* private: preferred address of the next block */
    enum memory_kind kind;                 // the kind of its blocks; MEMORY_OTHER at first
};

void slab_init(struct slab *slab);

// Returns all blocks to the system. All objects must have been freed.
void slab_clear(struct slab *slab);

// Allocates `size` uninitialized bytes. NULL: no memory.
void *slab_alloc(struct slab *slab, size_t size) MUST_USE;

// The same, zeroed.
void *slab_calloc(struct slab *slab, size_t size) MUST_USE;

// Frees an object that was allocated with that size. NULL is allowed.
void slab_free(struct slab *slab, void *thing, size_t size);

#endif
