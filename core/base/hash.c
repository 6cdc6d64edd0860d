/* SPDX-License-Identifier: MIT */
#include "core/base/hash.h"

#include "core/base/memory.h"

#include <string.h>

enum { HASH_FIRST = 1 << HASH_FIRST_BITS };

// Chains are split in the order of their buckets, so the next ones are known. If the table is too
// large for the cache, the chains of that many adjacent buckets are prefetched, which saves a
// quarter of the time to insert the keys of four million jobs.
enum { AHEAD = 8, LARGE = 1 << 15 };
_Static_assert(HASH_FIRST % AHEAD == 0, "chains that are fetched together are in one segment");

// The number of the highest bit of `n`, which is not 0.
static unsigned hash_top_bit(size_t n)
{
    return 63 ^ (unsigned)__builtin_clzll((unsigned long long)n);
}

// The largest power of two that is at most `n`, which is not 0.
static size_t hash_floor_power(size_t n)
{
    return (size_t)1 << hash_top_bit(n);
}

// Segment 0 holds the first HASH_FIRST buckets, each later one twice as many: counted from
// HASH_FIRST, the highest bit of a bucket's number gives its segment, and the other bits its index
// in it.
static unsigned hash_segment_of(size_t bucket)
{
    return hash_top_bit(bucket + HASH_FIRST) - HASH_FIRST_BITS;
}

static struct hash_node **hash_bucket_at(const struct hash *hash, size_t bucket)
{
    size_t number = bucket + HASH_FIRST;

    return &hash->segments[hash_segment_of(bucket)][number ^ hash_floor_power(number)];
}

static size_t hash_bucket_of(const struct hash *hash, uint64_t value)
{
    size_t round = hash_floor_power(hash->buckets);
    size_t bucket = (size_t)value & (2 * round - 1);

    return bucket < hash->buckets ? bucket : bucket & (round - 1);
}

void hash_init(struct hash *hash, uint64_t (*hash_of)(const struct hash_node *node))
{
    *hash = (struct hash){.hash_of = hash_of};
}

static size_t hash_segment_size(unsigned segment)
{
    return ((size_t)HASH_FIRST << segment) * sizeof(struct hash_node *);
}

static void hash_segment_free(struct hash *hash, unsigned segment)
{
    memory_free_of(MEMORY_INDEXES, hash->segments[segment], hash_segment_size(segment));
    hash->segments[segment] = NULL;
}

void hash_clear(struct hash *hash)
{
    for (unsigned i = 0; i < HASH_SEGMENTS; i++) {
        hash_segment_free(hash, i);
    }
    hash->count = 0;
    hash->buckets = 0;
    hash->room = 0;
}

bool hash_make_segment(struct hash *hash)
{
    size_t len = hash->room + HASH_FIRST;
    unsigned segment = hash_segment_of(hash->room);

    if (segment < HASH_SEGMENTS) {
        hash->segments[segment] = memory_zeroed_of(MEMORY_INDEXES, hash_segment_size(segment));
        if (hash->segments[segment]) {
            hash->room += len;
        }
    }
    if (hash->buckets == 0 && hash->room > 0) {
        hash->buckets = HASH_FIRST;
    }
    return hash->buckets > 0;
}

struct hash_node *hash_first(const struct hash *hash, uint64_t value)
{
    return hash->buckets ? *hash_bucket_at(hash, hash_bucket_of(hash, value)) : NULL;
}

struct hash_node *hash_stretch(const struct hash *hash, uint64_t position, uint64_t *last)
{
    uint64_t value = hash_position(position);
    size_t round, bucket;
    unsigned bits;

    if (hash->buckets == 0) {
        *last = UINT64_MAX;
        return NULL;
    }
    // A bucket holds the hashes that agree in their lowest bits, one bit more if it was split in
    // this round. With the bits reversed, these are adjacent.
    round = hash_floor_power(hash->buckets);
    bucket = hash_bucket_of(hash, value);
    bits = (unsigned)__builtin_ctzll(round);
    bits += (bucket & (round - 1)) + round < hash->buckets;
    *last = position | UINT64_MAX >> bits;
    return *hash_bucket_at(hash, bucket);
}

// Moves the nodes of the chain whose hashes have that bit to an empty bucket.
static void hash_split_chain(const struct hash *hash, struct hash_node **from,
                             struct hash_node **into, uint64_t bit)
{
    while (*from) {
        struct hash_node *node = *from;

        if (hash->hash_of(node) & bit) {
            *from = node->next;
            *into = node;
            into = &node->next;
        } else {
            from = &node->next;
        }
    }
    *into = NULL;
}

// The chain that is split when that bucket is added.
static struct hash_node **hash_chain_to_split(const struct hash *hash, size_t added)
{
    return hash_bucket_at(hash, added - hash_floor_power(added));
}

// Prefetches the first nodes of the chains to be split soon, and the second nodes of nearer ones.
static void hash_prefetch(const struct hash *hash, size_t added)
{
    struct hash_node **next = hash_chain_to_split(hash, added + AHEAD);
    struct hash_node **later = hash_chain_to_split(hash, added + 2 * AHEAD);

    for (size_t i = 0; i < AHEAD; i++) {
        PREFETCH(later[i]);
        if (next[i]) {
            PREFETCH(next[i]->next);
        }
    }
}

// Adds the next bucket, if its segment exists, and splits the chain that held its nodes.
static void hash_grow(struct hash *hash)
{
    size_t added = hash->buckets;

    if (added == hash->room) {
        return;
    }
    hash->buckets++;
    if (added >= LARGE && added % AHEAD == 0) {
        hash_prefetch(hash, added);
    }
    hash_split_chain(hash, hash_chain_to_split(hash, added), hash_bucket_at(hash, added),
                     hash_floor_power(added));
}

// Removes the last bucket and returns its nodes to the chain that it was split from. A segment is
// freed only when half of the previous one is unused, too, so that a size at the border does not
// allocate and free repeatedly.
static void hash_shrink(struct hash *hash)
{
    size_t last = hash->buckets - 1;
    struct hash_node **from = hash_bucket_at(hash, last);
    struct hash_node **into = hash_bucket_at(hash, last - hash_floor_power(last));
    unsigned unused;

    while (*into) {
        into = &(*into)->next;
    }
    *into = *from;
    *from = NULL;
    hash->buckets = last;
    unused = hash_segment_of(last + last / 2) + 1;
    if (unused < HASH_SEGMENTS && hash->segments[unused]) {
        hash_segment_free(hash, unused);
        hash->room = ((size_t)HASH_FIRST << unused) - HASH_FIRST;
    }
}

void hash_insert(struct hash *hash, struct hash_node *node)
{
    struct hash_node **bucket;

    if (hash->count >= hash->buckets) {
        hash_grow(hash);
    }
    bucket = hash_bucket_at(hash, hash_bucket_of(hash, hash->hash_of(node)));
    node->next = *bucket;
    *bucket = node;
    hash->count++;
}

// The pointer to a node that is in the table.
static struct hash_node **hash_link_to(const struct hash *hash, const struct hash_node *node)
{
    struct hash_node **link = hash_bucket_at(hash, hash_bucket_of(hash, hash->hash_of(node)));

    while (*link != node) {
        ENSURE(*link);
        link = &(*link)->next;
    }
    return link;
}

void hash_replace(struct hash *hash, struct hash_node *old, struct hash_node *node)
{
    *hash_link_to(hash, old) = node;
    node->next = old->next;
    old->next = NULL;
}

void hash_remove(struct hash *hash, struct hash_node *node)
{
    *hash_link_to(hash, node) = node->next;
    node->next = NULL;
    hash->count--;
    // Two buckets per node, so that the last node leaves no bucket that is not needed.
    for (int i = 0; i < 2 && hash->buckets > HASH_FIRST && hash->count < hash->buckets / 2; i++) {
        hash_shrink(hash);
    }
}
