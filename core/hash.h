/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_HASH_H
#define TANDEM_CORE_HASH_H

// An intrusive hash table that never stops to grow: linear hashing. An insert adds at most one
// bucket and divides one chain, a removal takes at most two away. Buckets stand in segments,
// each as large as all before it together, so that nothing is ever copied. The only allocation is
// a segment, which hash_make_room() makes beforehand; inserting and removing cannot fail.
//
// The caller computes hashes and compares: a chain is walked with hash_first() and `next`. Hashes
// must depend on a secret, or on numbers that nobody outside can choose.

#include "core/macros.h"

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
    struct hash_node **segments[HASH_SEGMENTS]; /* private */
};

// An empty table; allocates nothing. `hash_of` computes the hash of a node anew.
void hash_init(struct hash *hash, uint64_t (*hash_of)(const struct hash_node *node));

// Frees the table, not what is in it.
void hash_clear(struct hash *hash);

// Sees to it that one more node can be inserted. False without memory, and only where not even the
// first segment could be had: a table that cannot grow gets longer chains instead.
bool hash_make_room(struct hash *hash) MUST_USE;

// The first node of the chain in which nodes of that hash are; NULL for none. Nodes of other hashes
// may stand in it, too.
struct hash_node *hash_first(const struct hash *hash, uint64_t value);

void hash_insert(struct hash *hash, struct hash_node *node);

// Removes a node that is in the table.
void hash_remove(struct hash *hash, struct hash_node *node);

static inline size_t hash_count(const struct hash *hash)
{
    return hash->count;
}

// A hash of bytes that is mixed with `secret`.
uint64_t hash_bytes(const char *ptr, size_t len, uint64_t secret);

// A bijective mix of a number.
static inline uint64_t hash_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

#endif
