/* SPDX-License-Identifier: MIT */
#include "core/base/slab.h"

#include "core/base/memory.h"

#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__) || defined(SLAB_OF_MALLOC)
enum { EXACT_MOST = 0, LARGEST = 0 };
#else
enum { EXACT_MOST = SLAB_MAX, LARGEST = SLAB_LARGEST };
#endif

#define BLOCK_SIZE ((size_t)256 * 1024)
#define CACHE_LINE 64
// The number of empty blocks that are kept, so that a changing load does not map and unmap
// constantly. Each stays usable for its size, so a single job that comes and goes needs no setup.
enum { EMPTY_KEPT = 4 };

struct thing {
    struct thing *next;
};

// The header of a block, whose address is a multiple of its size. It is a whole cache line, so that
// objects of whole lines are aligned to lines.
struct block {
    _Alignas(CACHE_LINE) struct list_node link; // in slab->usable; a full one is in no list
    struct list_node empty;                     // in slab->empty while nothing is in use
    struct thing *freed;                        // objects that were freed
    uint32_t used;                              // objects in use
    uint32_t fresh;                             // offset of the first object that was never used
    uint32_t size;                              // of an object
};

_Static_assert(sizeof(struct block) == CACHE_LINE, "the head of a block has outgrown its line");

_Static_assert(2 * SLAB_LARGEST + sizeof(struct block) <= BLOCK_SIZE,
               "a block has room for two of the largest things");

// The multiple to which a size above SLAB_MAX is rounded up.
static size_t grain_of(size_t size)
{
    size_t grain = SLAB_MAX / 8;

    while (size > 16 * grain) {
        grain *= 2;
    }
    return grain;
}

// The class of a size that is already rounded up.
static size_t class_of(size_t size)
{
    size_t class = SLAB_MAX / 8;
    size_t grain;

    if (size <= SLAB_MAX) {
        return size / 8;
    }
    grain = grain_of(size);
    for (size_t g = SLAB_MAX / 8; g < grain; g *= 2) {
        class += 8;
    }
    return class + size / grain - 8;
}

void slab_init(struct slab *slab)
{
    for (size_t i = 0; i < SLAB_CLASSES; i++) {
        list_init(&slab->usable[i]);
    }
    list_init(&slab->empty);
    slab->empty_count = 0;
    slab->beside = NULL;
    slab->kind = MEMORY_OTHER;
}

static struct block *block_in(struct list_node *list)
{
    return list_empty(list) ? NULL : list_item(list_first(list), struct block, link);
}

static struct block *longest_empty(const struct slab *slab)
{
    return list_item(list_first(&slab->empty), struct block, empty);
}

static void block_enter_empty(struct slab *slab, struct block *block)
{
    list_append(&slab->empty, &block->empty);
    slab->empty_count++;
}

static void block_leave_empty(struct slab *slab, struct block *block)
{
    list_remove(&block->empty);
    slab->empty_count--;
}

// Removes an empty block from the lists.
static void block_take_out(struct slab *slab, struct block *block)
{
    block_leave_empty(slab, block);
    list_remove(&block->link);
}

static void block_put_in(struct slab *slab, struct block *block)
{
    list_append(&slab->usable[class_of(block->size)], &block->link);
    block_enter_empty(slab, block);
}

void slab_clear(struct slab *slab)
{
    while (slab->empty_count > 0) {
        struct block *block = longest_empty(slab);

        block_take_out(slab, block);
        (void)munmap(block, BLOCK_SIZE);
        memory_uncount_of(slab->kind, BLOCK_SIZE);
    }
}

static char *map_pages(void *wanted, size_t size)
{
    char *map = mmap(wanted, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return map != MAP_FAILED ? map : NULL;
}

// The system aligns only to pages: maps twice the size and unmaps the excess.
static char *map_aligned(void)
{
    char *map = map_pages(NULL, 2 * BLOCK_SIZE);
    size_t before;

    if (!map) {
        return NULL;
    }
    before = (BLOCK_SIZE - ((uintptr_t)map & (BLOCK_SIZE - 1))) & (BLOCK_SIZE - 1);
    if (before > 0) {
        (void)munmap(map, before);
    }
    (void)munmap(map + before + BLOCK_SIZE, BLOCK_SIZE - before);
    return map + before;
}

// Usually the space right below the last block is free, and it is aligned.
static struct block *block_map(struct slab *slab)
{
    char *map = slab->beside ? map_pages(slab->beside, BLOCK_SIZE) : NULL;

    if (map && ((uintptr_t)map & (BLOCK_SIZE - 1)) != 0) {
        (void)munmap(map, BLOCK_SIZE);
        map = NULL;
    }
    if (!map) {
        map = map_aligned();
    }
    if (map) {
        memory_count_of(slab->kind, BLOCK_SIZE);
    }
    slab->beside = map ? map - BLOCK_SIZE : NULL;
    return (struct block *)(void *)map;
}

// An empty block for objects of that size: a new one, or an empty one of another size.
static struct block *block_new(struct slab *slab, size_t size)
{
    struct block *block = slab->empty_count < EMPTY_KEPT ? block_map(slab) : NULL;

    if (!block && slab->empty_count > 0) {
        block = longest_empty(slab);
        block_take_out(slab, block);
    }
    if (block) {
        *block = (struct block){.fresh = sizeof *block, .size = (uint32_t)size};
        block_put_in(slab, block);
    }
    return block;
}

static bool block_full(const struct block *block)
{
    return !block->freed && block->fresh + block->size > BLOCK_SIZE;
}

static inline void *block_take(struct slab *slab, struct block *block)
{
    struct thing *thing = block->freed;

    if (thing) {
        block->freed = thing->next;
    } else {
        thing = (struct thing *)(void *)((char *)block + block->fresh);
        block->fresh += block->size;
    }
    if (block->used++ == 0) {
        block_leave_empty(slab, block);
    }
    if (block_full(block)) {
        list_remove(&block->link);
    }
    return thing;
}

static void *take_from_new(struct slab *slab, size_t size)
{
    struct block *block = block_new(slab, size);

    return block ? block_take(slab, block) : NULL;
}

static void *alloc_large(struct slab *slab, size_t size)
{
    struct block *block;
    size_t grain;

    if (size > LARGEST) {
        return memory_alloc_of(slab->kind, size);
    }
    grain = grain_of(size);
    size = (size + grain - 1) / grain * grain;
    block = block_in(&slab->usable[class_of(size)]);
    return block ? block_take(slab, block) : take_from_new(slab, size);
}

void *slab_alloc(struct slab *slab, size_t size)
{
    struct block *block;

    if (size > EXACT_MOST) {
        return alloc_large(slab, size);
    }
    size = size < sizeof(struct thing) ? sizeof(struct thing) : (size + 7) & ~(size_t)7;
    block = block_in(&slab->usable[size / 8]);
    return block ? block_take(slab, block) : take_from_new(slab, size);
}

void *slab_calloc(struct slab *slab, size_t size)
{
    void *thing = slab_alloc(slab, size);

    if (thing) {
        memset(thing, 0, size);
    }
    return thing;
}

// If too many blocks are empty, unmaps the one that was empty for longest. If the system cannot
// split its mapping, the block is kept for reuse.
static void block_retire(struct slab *slab, struct block *block)
{
    block_enter_empty(slab, block);
    if (slab->empty_count > EMPTY_KEPT) {
        block = longest_empty(slab);
        block_take_out(slab, block);
        if (munmap(block, BLOCK_SIZE) != 0) {
            block_put_in(slab, block);
        } else {
            memory_uncount_of(slab->kind, BLOCK_SIZE);
        }
    }
}

void slab_free(struct slab *slab, void *freed, size_t size)
{
    struct thing *thing = freed;
    struct block *block;

    if (!thing || size > LARGEST) {
        memory_free_of(slab->kind, thing, size);
        return;
    }
    block = (struct block *)((uintptr_t)thing & ~(BLOCK_SIZE - 1));
    if (block_full(block)) {
        list_append(&slab->usable[class_of(block->size)], &block->link);
    }
    thing->next = block->freed;
    block->freed = thing;
    if (--block->used == 0) {
        block_retire(slab, block);
    }
}
