/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_SLAB_H
#define TANDEM_CORE_BASE_SLAB_H

// Memory for things that there are millions of. Things of one size stand side by side in blocks
// that come straight from the system, without a header each, and a block goes back to the system
// when the last of its things has gone, but for a few that are kept. A general allocator does
// neither: it rounds each thing up, and one small thing that stays keeps all before it. Sizes are
// rounded up to 8 bytes, and so are addresses; sizes above SLAB_MAX by up to an eighth, so that
// those of bodies and results are few. What is larger than SLAB_LARGEST comes from malloc.
//
// With AddressSanitizer every thing comes from malloc, which watches over it.

#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/memory.h"

#include <stddef.h>
#include <stdint.h>

#define SLAB_MAX 4096
#define SLAB_LARGEST (112 * 1024)
// Eight sizes between a power of two and the next.
#define SLAB_CLASSES (SLAB_MAX / 8 + 1 + 8 * 5)

struct slab {
    struct list_node usable[SLAB_CLASSES]; /* private: blocks with room, by size */
    struct list_node empty;                /* private: those of them that nothing is in */
    uint32_t empty_count;                  /* private */
    void *beside;                          /* private: where the next block had better be */
    enum memory_kind kind;                 // what its blocks count as; MEMORY_OTHER at first
};

void slab_init(struct slab *slab);

// Gives everything back that is in no use any more. All that was allocated must have been freed.
void slab_clear(struct slab *slab);

// `size` bytes, not set to anything; NULL without memory.
void *slab_alloc(struct slab *slab, size_t size) MUST_USE;

// The same, set to zero.
void *slab_calloc(struct slab *slab, size_t size) MUST_USE;

// Frees what was allocated with that size. NULL is allowed.
void slab_free(struct slab *slab, void *thing, size_t size);

#endif
