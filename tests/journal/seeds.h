/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_SEEDS_H
#define TANDEM_TESTS_JOURNAL_SEEDS_H

// The seeds of a random test. In the environment, TEST_JOURNAL_SEEDS is their number, and
// TEST_JOURNAL_SEED the first one; if the latter is set, each round is printed, so that a failed
// one can be found and repeated.

#include "tests/journal/file/fake_file.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct seeds {
    unsigned long first, end;
};

static inline unsigned long seeds_number(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : otherwise;
}

// `count` of them, unless the environment says otherwise.
static inline struct seeds seeds_wanted(unsigned long count)
{
    unsigned long first = seeds_number("TEST_JOURNAL_SEED", 1);

    return (struct seeds){first, first + seeds_number("TEST_JOURNAL_SEEDS", count)};
}

static inline void seeds_tell(unsigned long seed, int round)
{
    if (getenv("TEST_JOURNAL_SEED")) {
        print_message("seed %lu round %d\n", seed, round);
    }
}

// A number below `sides`.
static inline uint64_t roll(uint64_t *dice, uint64_t sides)
{
    return (fake_dice(dice) >> 32) % sides;
}

#endif
