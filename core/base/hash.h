/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_HASH_H
#define TANDEM_CORE_BASE_HASH_H

// An intrusive hash table that never stops to grow: linear hashing. An insert adds at most one
// bucket and divides one chain, a removal takes at most two away. Buckets stand in segments,
// each twice as large as the one before it, so that nothing is ever copied. The only allocation is
// a segment, which hash_make_room() makes beforehand; inserting and removing cannot fail.
//
// The caller computes hashes and compares: a chain is walked with hash_first() and `next`. Hashes
// must depend on a secret (siphash.h), or on numbers that nobody outside can choose.

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
    size_t room;                                /* private: buckets that there are segments for */
    struct hash_node **segments[HASH_SEGMENTS]; /* private */
};

// An empty table; allocates nothing. `hash_of` computes the hash of a node anew.
void hash_init(struct hash *hash, uint64_t (*hash_of)(const struct hash_node *node));

// Frees the table, not what is in it.
void hash_clear(struct hash *hash);

// private: the segment that the next bucket stands in.
bool hash_make_segment(struct hash *hash) MUST_USE;

// Sees to it that one more node can be inserted. False without memory, and only where not even the
// first segment could be had: a table that cannot grow gets longer chains instead.
MUST_USE static inline bool hash_make_room(struct hash *hash)
{
    return hash->count < hash->buckets || hash->buckets < hash->room || hash_make_segment(hash);
}

// The first node of the chain in which nodes of that hash are; NULL for none. Nodes of other hashes
// may stand in it, too.
struct hash_node *hash_first(const struct hash *hash, uint64_t value);

// Where nodes of that hash come in a walk over the whole table: the hash read backwards.
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

// One stretch of such a walk: the first node of the chain that has all nodes at the positions from
// `position` to `*last` (and perhaps others, before these). Go on at the position after `*last`.
// Dividing a chain divides its stretch and joining two joins theirs, so that a position behind
// which everything has been seen stays one, whatever is inserted and removed meanwhile.
struct hash_node *hash_stretch(const struct hash *hash, uint64_t position, uint64_t *last);

void hash_insert(struct hash *hash, struct hash_node *node);

// Puts `node` in the place of `old`, which is in the table; both have the same hash.
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
