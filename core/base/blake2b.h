/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_BLAKE2B_H
#define TANDEM_CORE_BASE_BLAKE2B_H

// BLAKE2b-256 (RFC 7693) without a key: a collision-resistant digest, the same in every process. It
// reads the bytes in place, in any number of steps, and buffers nothing.

#include <stddef.h>
#include <stdint.h>

#define BLAKE2B_LEN 32

struct blake2b {
    uint64_t state[8]; /* private */
    size_t taken;      /* private: bytes already hashed, from the beginning: whole blocks */
};

void blake2b_init(struct blake2b *hash);

// Hashes the new part of the `len` bytes that have arrived so far. `bytes` points at the first of
// all bytes; they may have moved since the last call, but must not have changed. The last block
// waits for blake2b_finish().
void blake2b_update(struct blake2b *hash, const char *bytes, size_t len);

// Hashes the rest of all `len` bytes, and writes their digest.
void blake2b_finish(struct blake2b *hash, const char *bytes, size_t len,
                    unsigned char digest[BLAKE2B_LEN]);

#endif
