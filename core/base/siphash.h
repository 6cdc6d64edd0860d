/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_SIPHASH_H
#define TANDEM_CORE_BASE_SIPHASH_H

// SipHash-1-3 (Aumasson and Bernstein, 2012): a hash of bytes that nobody can foretell who does not
// know the key, nor bring about collisions of. Clients choose the names of queues and the keys of
// jobs; the tables of these are safe from them by this.

#include <stddef.h>
#include <stdint.h>

// Random, and told to nobody.
struct siphash_key {
    uint64_t words[2];
};

uint64_t siphash(const struct siphash_key *key, const char *ptr, size_t len);

#endif
