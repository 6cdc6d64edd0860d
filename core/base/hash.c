/* SPDX-License-Identifier: MIT */
#include "core/base/hash.h"

#include "core/base/memory.h"

#include <string.h>

enum { FIRST = 1 << HASH_FIRST_BITS };

// Chains are split in the order of their buckets, so the next ones are known. If the table is too
// large for the cache, the chains of that many adjacent buckets are prefetched, which saves a
// quarter of the time to insert the keys of four million jobs.
enum { AHEAD = 8, LARGE = 1 << 15 };
_Static_assert(FIRST % AHEAD == 0, "chains that are fetched together are in one segment");

// The number of the highest bit of `n`, which is not 0.
static unsigned top_bit(size_t n)
{
    return 63 ^ (unsigned)__builtin_clzll((unsigned long long)n);
}

// The largest power of two that is at most `n`, which is not 0.
static size_t floor_power(size_t n)
{
    return (size_t)1 << top_bit(n);
}

// Segment 0 holds the first FIRST buckets, each later one twice as many: counted from FIRST, the
// highest bit of a bucket's number gives its segment, and the other bits its index in it.
static unsigned segment_of(size_t bucket)
{
    return top_bit(bucket + FIRST) - HASH_FIRST_BITS;
}

static struct hash_node **bucket_at(const struct hash *hash, size_t bucket)
{
    size_t number = bucket + FIRST;

    return &hash->segments[segment_of(bucket)][number ^ floor_power(number)];
}

static size_t bucket_of(const struct hash *hash, uint64_t value)
{
    size_t round = floor_power(hash->buckets);
    size_t bucket = (size_t)value & (2 * round - 1);

    return bucket < hash->buckets ? bucket : bucket & (round - 1);
}

void hash_init(struct hash *hash, uint64_t (*hash_of)(const struct hash_node *node))
{
    *hash = (struct hash){.hash_of = hash_of};
}

static size_t segment_size(unsigned segment)
{
    return ((size_t)FIRST << segment) * sizeof(struct hash_node *);
}

static void segment_free(struct hash *hash, unsigned segment)
{
    memory_free_of(MEMORY_INDEXES, hash->segments[segment], segment_size(segment));
    hash->segments[segment] = NULL;
}

void hash_clear(struct hash *hash)
{
    for (unsigned i = 0; i < HASH_SEGMENTS; i++) {
        segment_free(hash, i);
    }
    hash->count = 0;
    hash->buckets = 0;
    hash->room = 0;
}

bool hash_make_segment(struct hash *hash)
{
    size_t len = hash->room + FIRST;
    unsigned segment = segment_of(hash->room);

    if (segment < HASH_SEGMENTS) {
        hash->segments[segment] = memory_zeroed_of(MEMORY_INDEXES, segment_size(segment));
        if (hash->segments[segment]) {
            hash->room += len;
        }
    }
    if (hash->buckets == 0 && hash->room > 0) {
        hash->buckets = FIRST;
    }
    return hash->buckets > 0;
}

struct hash_node *hash_first(const struct hash *hash, uint64_t value)
{
    return hash->buckets ? *bucket_at(hash, bucket_of(hash, value)) : NULL;
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
    round = floor_power(hash->buckets);
    bucket = bucket_of(hash, value);
    bits = (unsigned)__builtin_ctzll(round);
    bits += (bucket & (round - 1)) + round < hash->buckets;
    *last = position | UINT64_MAX >> bits;
    return *bucket_at(hash, bucket);
}

// Moves the nodes of the chain whose hashes have that bit to an empty bucket.
static void divide(const struct hash *hash, struct hash_node **from, struct hash_node **into,
                   uint64_t bit)
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
static struct hash_node **divided_for(const struct hash *hash, size_t added)
{
    return bucket_at(hash, added - floor_power(added));
}

// Prefetches the first nodes of the chains to be split soon, and the second nodes of nearer ones.
static void fetch_ahead(const struct hash *hash, size_t added)
{
    struct hash_node **next = divided_for(hash, added + AHEAD);
    struct hash_node **later = divided_for(hash, added + 2 * AHEAD);

    for (size_t i = 0; i < AHEAD; i++) {
        PREFETCH(later[i]);
        if (next[i]) {
            PREFETCH(next[i]->next);
        }
    }
}

// Adds the next bucket, if its segment exists, and splits the chain that held its nodes.
static void grow(struct hash *hash)
{
    size_t added = hash->buckets;

    if (added == hash->room) {
        return;
    }
    hash->buckets++;
    if (added >= LARGE && added % AHEAD == 0) {
        fetch_ahead(hash, added);
    }
    divide(hash, divided_for(hash, added), bucket_at(hash, added), floor_power(added));
}

// Removes the last bucket and returns its nodes to the chain that it was split from. A segment is
// freed only when half of the previous one is unused, too, so that a size at the border does not
// allocate and free repeatedly.
static void shrink(struct hash *hash)
{
    size_t last = hash->buckets - 1;
    struct hash_node **from = bucket_at(hash, last);
    struct hash_node **into = bucket_at(hash, last - floor_power(last));
    unsigned unused;

    while (*into) {
        into = &(*into)->next;
    }
    *into = *from;
    *from = NULL;
    hash->buckets = last;
    unused = segment_of(last + last / 2) + 1;
    if (unused < HASH_SEGMENTS && hash->segments[unused]) {
        segment_free(hash, unused);
        hash->room = ((size_t)FIRST << unused) - FIRST;
    }
}

void hash_insert(struct hash *hash, struct hash_node *node)
{
    struct hash_node **bucket;

    if (hash->count >= hash->buckets) {
        grow(hash);
    }
    bucket = bucket_at(hash, bucket_of(hash, hash->hash_of(node)));
    node->next = *bucket;
    *bucket = node;
    hash->count++;
}

// The pointer to a node that is in the table.
static struct hash_node **link_to(const struct hash *hash, const struct hash_node *node)
{
    struct hash_node **link = bucket_at(hash, bucket_of(hash, hash->hash_of(node)));

    while (*link != node) {
        ENSURE(*link);
        link = &(*link)->next;
    }
    return link;
}

void hash_replace(struct hash *hash, struct hash_node *old, struct hash_node *node)
{
    *link_to(hash, old) = node;
    node->next = old->next;
    old->next = NULL;
}

void hash_remove(struct hash *hash, struct hash_node *node)
{
    *link_to(hash, node) = node->next;
    node->next = NULL;
    hash->count--;
    // Two buckets per node, so that the last node leaves no bucket that is not needed.
    for (int i = 0; i < 2 && hash->buckets > FIRST && hash->count < hash->buckets / 2; i++) {
        shrink(hash);
    }
}
