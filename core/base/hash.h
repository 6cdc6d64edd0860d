/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_HASH_H
#define TANDEM_CORE_BASE_HASH_H

// An intrusive hash table without pauses to rehash: linear hashing. An insertion adds at most one
// bucket and splits one chain; a removal removes at most two. Buckets are in segments, each twice
// as large as the previous one, so that none is ever copied. Only hash_make_room() allocates, a
// segment at a time; inserting and removing cannot fail.
//
// The caller computes hashes and compares: it walks a chain with hash_first() and `next`. Hashes
// must depend on a secret (siphash.h), or on numbers that clients cannot choose.

#include "core/base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_node {
    struct hash_node *next;
};

#define HASH_FIRST_BITS 4
#define HASH_SEGMENTS (40 - HASH_FIRST_BITS)

struct hash {
    uint64_t (*hash_of)(const struct hash_node *node); /* private */
    size_t count;                                      /* private: nodes */
    size_t buckets;                             /* private: in use, 0 or at least 2^FIRST_BITS */
    size_t room;                                /* private: buckets in allocated segments */
    struct hash_node **segments[HASH_SEGMENTS]; /* private */
};

// Initializes an empty table; allocates nothing. `hash_of` computes the hash of a node.
void hash_init(struct hash *hash, uint64_t (*hash_of)(const struct hash_node *node));

// Frees the table, but not its nodes.
void hash_clear(struct hash *hash);

// private: allocates the segment of the next bucket.
bool hash_make_segment(struct hash *hash) MUST_USE;

// Ensures that one more node can be inserted. False: no memory for the first segment. A table that
// cannot grow gets longer chains instead.
MUST_USE static inline bool hash_make_room(struct hash *hash)
{
    return hash->count < hash->buckets || hash->buckets < hash->room || hash_make_segment(hash);
}

// The first node of the chain for that hash; NULL for none. The chain may contain nodes with other
// hashes.
struct hash_node *hash_first(const struct hash *hash, uint64_t value);

// The position of that hash in a walk over the whole table: its bits reversed.
static inline uint64_t hash_position(uint64_t value)
{
    value =
        (value & UINT64_C(0x5555555555555555)) << 1 | (value >> 1 & UINT64_C(0x5555555555555555));
    value =
        (value & UINT64_C(0x3333333333333333)) << 2 | (value >> 2 & UINT64_C(0x3333333333333333));
    value =
        (value & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4 | (value >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f));
    return __builtin_bswap64(value);
}

// One step of a walk: the first node of the chain with all nodes at the positions from `position`
// to `*last` (and perhaps others before these). The walk continues after `*last`. Splitting and
// joining chains split and join their ranges, so that insertions and removals during a walk do not
// invalidate a position.
struct hash_node *hash_stretch(const struct hash *hash, uint64_t position, uint64_t *last);

void hash_insert(struct hash *hash, struct hash_node *node);

// Replaces `old`, which is in the table, by `node`, which has the same hash.
void hash_replace(struct hash *hash, struct hash_node *old, struct hash_node *node);

// Removes a node that is in the table.
void hash_remove(struct hash *hash, struct hash_node *node);

static inline size_t hash_count(const struct hash *hash)
{
    return hash->count;
}

// A bijective mix of a number.
static inline uint64_t hash_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

#endif
