/* SPDX-License-Identifier: MIT */
#include "core/base/siphash.h"

#include <endian.h>
#include <string.h>

struct siphash_state {
    uint64_t v[4];
};

static inline uint64_t siphash_rotate(uint64_t word, unsigned by)
{
    return word << by | word >> (64 - by);
}

static inline void siphash_round(struct siphash_state *s)
{
    s->v[0] += s->v[1];
    s->v[2] += s->v[3];
    s->v[1] = siphash_rotate(s->v[1], 13) ^ s->v[0];
    s->v[3] = siphash_rotate(s->v[3], 16) ^ s->v[2];
    s->v[0] = siphash_rotate(s->v[0], 32) + s->v[3];
    s->v[2] += s->v[1];
    s->v[3] = siphash_rotate(s->v[3], 21) ^ s->v[0];
    s->v[1] = siphash_rotate(s->v[1], 17) ^ s->v[2];
    s->v[2] = siphash_rotate(s->v[2], 32);
}

static inline void siphash_absorb(struct siphash_state *s, uint64_t word)
{
    s->v[3] ^= word;
    siphash_round(s);
    s->v[0] ^= word;
}

uint64_t siphash(const struct siphash_key *key, const char *ptr, size_t len)
{
    // The constant of the authors: "somepseudorandomlygeneratedbytes".
    struct siphash_state s = {.v = {
                                  key->words[0] ^ UINT64_C(0x736f6d6570736575),
                                  key->words[1] ^ UINT64_C(0x646f72616e646f6d),
                                  key->words[0] ^ UINT64_C(0x6c7967656e657261),
                                  key->words[1] ^ UINT64_C(0x7465646279746573),
                              }};
    uint64_t last = (uint64_t)len << 56;
    size_t left = len;

    for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), ptr += sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, ptr, sizeof word);
        siphash_absorb(&s, le64toh(word));
    }
    // The last word has the remaining bytes, fewer than eight, and the length in its highest byte.
    for (size_t i = 0; i < left; i++) {
        last |= (uint64_t)(unsigned char)ptr[i] << 8 * i;
    }
    siphash_absorb(&s, last);
    s.v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) {
        siphash_round(&s);
    }
    return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}
