/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_SIPHASH_H
#define TANDEM_CORE_BASE_SIPHASH_H

// SipHash-1-3 (Aumasson and Bernstein, 2012): a keyed hash. Without the key, clients, which choose
// the names of queues and the keys of jobs, can neither predict hashes nor cause collisions.

#include <stddef.h>
#include <stdint.h>

// Random and secret.
struct siphash_key {
    uint64_t words[2];
};

uint64_t siphash(const struct siphash_key *key, const char *ptr, size_t len);

#endif
