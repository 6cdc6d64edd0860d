/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_BLAKE2B_H
#define TANDEM_CORE_BASE_BLAKE2B_H

// BLAKE2b-256 (RFC 7693), without a key: a digest of bytes of which nobody can make two that have
// the same. It is the same in every process and at every time. The bytes are taken in where they
// lie, in as many steps as the caller wants: nothing of them is buffered.

#include <stddef.h>
#include <stdint.h>

#define BLAKE2B_LEN 32

struct blake2b {
    uint64_t state[8]; /* private */
    size_t taken;      /* private: bytes from the beginning that are in the state: whole blocks */
};

void blake2b_init(struct blake2b *hash);

// Takes in what is not yet taken in of the `len` bytes that are there so far. `bytes` is where they
// begin, from the first one on; they may have moved since the last call, but not have changed. The
// last block stays behind until blake2b_finish().
void blake2b_update(struct blake2b *hash, const char *bytes, size_t len);

// Takes in the rest of the `len` bytes that these are in all, and writes their digest.
void blake2b_finish(struct blake2b *hash, const char *bytes, size_t len,
                    unsigned char digest[BLAKE2B_LEN]);

#endif
