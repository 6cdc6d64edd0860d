/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_DIGITS_H
#define TANDEM_CORE_BASE_DIGITS_H

// Decimal numbers, as every protocol here writes them.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

// The most digits that a number has.
#define DIGITS_MAX 20

// Writes `number`, at most DIGITS_MAX bytes; returns where it ends.
char *digits_write(char *at, uint64_t number);

// As many digits as always fit.
#define DIGITS_FIT 19

// digits_take() where there may be too many.
const char *digits_take_many(const char *at, const char *end, uint64_t *number);

// Reads the digits that stand at `at`, before `end`; returns where they end, NULL where their
// number does not fit.
static inline const char *digits_take(const char *at, const char *end, uint64_t *number)
{
    const char *start = at;
    uint64_t value = 0;

    for (; at < end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';

        if (digit > 9) {
            break;
        }
        value = value * 10 + digit;
    }
    *number = value;
    return at - start <= DIGITS_FIT ? at : digits_take_many(start, end, number);
}

// Reads a number of digits and nothing else; false for anything else, also where it does not fit.
bool digits_read(struct slice text, uint64_t *number);

#endif
