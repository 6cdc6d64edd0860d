/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_DIGITS_H
#define TANDEM_CORE_BASE_DIGITS_H

// Decimal numbers, as in all protocols.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

// The most digits of a uint64_t.
#define DIGITS_MAX 20

// Writes `number`, at most DIGITS_MAX bytes; returns the end.
char *digits_write(char *at, uint64_t number);

// The number of digits that always fits a uint64_t.
#define DIGITS_FIT 19

// digits_take() for more than DIGITS_FIT digits: reads those at `at`, before `end`.
const char *digits_take_many(const char *at, const char *end, uint64_t *number);

// Reads the digits at `at`. Returns their end; NULL if there are none, or if the number does not
// fit. A byte that is not a digit must follow them: not comparing each digit with an end is worth
// 3 % of a pipelined put, by tests/budget.
static inline const char *digits_take(const char *at, uint64_t *number)
{
    const char *start = at;
    uint64_t value = 0;

    for (;; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';

        if (digit > 9) {
            break;
        }
        value = value * 10 + digit;
    }
    *number = value;
    // One comparison for no digits and for too many.
    if ((size_t)(at - start) - 1 < DIGITS_FIT) {
        return at;
    }
    return at == start ? NULL : digits_take_many(start, at, number);
}

// Reads a text of digits only. False for any other text, and if the number does not fit.
bool digits_read(struct slice text, uint64_t *number);

#endif
