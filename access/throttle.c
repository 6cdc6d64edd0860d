/* SPDX-License-Identifier: MIT */
#include "access/throttle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The time for a full bucket to leak out. With more than the second one left, there is no room for
// a drop.
#define LEAK_FOR (THROTTLE_DROPS * THROTTLE_DROP_FOR)
#define FULL_FOR ((THROTTLE_DROPS - 1) * THROTTLE_DROP_FOR)
// The part of an IPv6 address that identifies a bucket.
#define NETWORK_BYTES 8

enum throttle_origin { ORIGIN_UNKNOWN, ORIGIN_ADDRESS, ORIGIN_USER };

// The peers that share a bucket.
struct throttle_key {
    uint64_t words[2];
    uint64_t origin;
};

struct throttle_bucket {
    struct throttle_key key;
    nsec_t empty_at;
};

struct throttle {
    size_t count;
    nsec_t all_empty_at;
    struct throttle_bucket buckets[THROTTLE_ADDRESSES];
};

struct throttle *throttle_new(void)
{
    return calloc(1, sizeof(struct throttle));
}

void throttle_free(struct throttle *throttle)
{
    free(throttle);
}

static struct throttle_key throttle_key_of(const struct access_peer *peer)
{
    struct throttle_key key = {.origin = ORIGIN_UNKNOWN};

    if (peer->has_address) {
        bool v4 = IN6_IS_ADDR_V4MAPPED(&peer->address);

        key.origin = ORIGIN_ADDRESS;
        memcpy(key.words, peer->address.s6_addr, v4 ? sizeof key.words : NETWORK_BYTES);
    } else if (peer->has_user) {
        key.origin = ORIGIN_USER;
        key.words[0] = peer->user;
    }
    return key;
}

static bool throttle_key_equal(const struct throttle_key *a, const struct throttle_key *b)
{
    return a->words[0] == b->words[0] && a->words[1] == b->words[1] && a->origin == b->origin;
}

nsec_t throttle_ask(const struct throttle *throttle, const struct access_peer *peer, nsec_t now)
{
    const struct throttle_key key = throttle_key_of(peer);

    if (now >= throttle->all_empty_at) {
        return 0;
    }
    for (size_t i = 0; i < throttle->count; i++) {
        const struct throttle_bucket *bucket = &throttle->buckets[i];

        if (throttle_key_equal(&bucket->key, &key)) {
            return bucket->empty_at - now > FULL_FOR ? bucket->empty_at - FULL_FOR : 0;
        }
    }
    return 0;
}

// The bucket of the key, or an empty one, or the one with the fewest drops.
static struct throttle_bucket *throttle_find_bucket(struct throttle *throttle,
                                                    const struct throttle_key *key)
{
    struct throttle_bucket *fewest = &throttle->buckets[0];

    for (size_t i = 0; i < throttle->count; i++) {
        struct throttle_bucket *bucket = &throttle->buckets[i];

        if (throttle_key_equal(&bucket->key, key)) {
            return bucket;
        }
        fewest = bucket->empty_at < fewest->empty_at ? bucket : fewest;
    }
    if (throttle->count < THROTTLE_ADDRESSES) {
        fewest = &throttle->buckets[throttle->count++];
    }
    fewest->key = *key;
    return fewest;
}

void throttle_wrong(struct throttle *throttle, const struct access_peer *peer, nsec_t now)
{
    const struct throttle_key key = throttle_key_of(peer);
    struct throttle_bucket *bucket;

    if (now >= throttle->all_empty_at) {
        throttle->count = 0;
    }
    bucket = throttle_find_bucket(throttle, &key);
    if (bucket->empty_at < now) {
        bucket->empty_at = now;
    }
    bucket->empty_at += THROTTLE_DROP_FOR;
    // The bucket is already full if a new address has taken over a full one.
    if (bucket->empty_at - now > LEAK_FOR) {
        bucket->empty_at = now + LEAK_FOR;
    }
    if (bucket->empty_at > throttle->all_empty_at) {
        throttle->all_empty_at = bucket->empty_at;
    }
}
