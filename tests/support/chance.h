/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CHANCE_H
#define TANDEM_TESTS_CHANCE_H

// Pseudo-random numbers, the same in each run of a test.

#include <stdint.h>

// A number below `bound`, which is not 0.
static inline uint32_t below(uint32_t bound)
{
    static uint64_t state = UINT64_C(88172645463325252);

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % bound;
}

#endif
