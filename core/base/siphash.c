/* SPDX-License-Identifier: MIT */
#include "core/base/siphash.h"

#include <string.h>

struct state {
    uint64_t v[4];
};

static inline uint64_t rotate(uint64_t word, unsigned by)
{
    return word << by | word >> (64 - by);
}

static inline void make_round(struct state *s)
{
    s->v[0] += s->v[1];
    s->v[2] += s->v[3];
    s->v[1] = rotate(s->v[1], 13) ^ s->v[0];
    s->v[3] = rotate(s->v[3], 16) ^ s->v[2];
    s->v[0] = rotate(s->v[0], 32) + s->v[3];
    s->v[2] += s->v[1];
    s->v[3] = rotate(s->v[3], 21) ^ s->v[0];
    s->v[1] = rotate(s->v[1], 17) ^ s->v[2];
    s->v[2] = rotate(s->v[2], 32);
}

static inline void take_in(struct state *s, uint64_t word)
{
    s->v[3] ^= word;
    make_round(s);
    s->v[0] ^= word;
}

// Reads eight bytes as little-endian.
static inline uint64_t word_at(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

// The remaining bytes, fewer than eight, with the length in the highest byte.
static inline uint64_t last_word(const char *at, size_t left, size_t len)
{
    uint64_t word = (uint64_t)len << 56;

    for (size_t i = 0; i < left; i++) {
        word |= (uint64_t)(unsigned char)at[i] << 8 * i;
    }
    return word;
}

uint64_t siphash(const struct siphash_key *key, const char *ptr, size_t len)
{
    // The constant of the authors: "somepseudorandomlygeneratedbytes".
    struct state s = {.v = {
                          key->words[0] ^ UINT64_C(0x736f6d6570736575),
                          key->words[1] ^ UINT64_C(0x646f72616e646f6d),
                          key->words[0] ^ UINT64_C(0x6c7967656e657261),
                          key->words[1] ^ UINT64_C(0x7465646279746573),
                      }};
    size_t left = len;

    for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), ptr += sizeof(uint64_t)) {
        take_in(&s, word_at(ptr));
    }
    take_in(&s, last_word(ptr, left, len));
    s.v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) {
        make_round(&s);
    }
    return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}
