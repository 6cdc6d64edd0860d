/* SPDX-License-Identifier: MIT */
#include "core/base/digits.h"

#include <string.h>

// Two digits per step save 2.5 % of a pipelined put, by tests/budget.
static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233"
                            "34353637383940414243444546474849505152535455565758596061626364656667"
                            "6869707172737475767778798081828384858687888990919293949596979899";

// The number of digits. Four per step save 0.9 % of a pipelined put, by tests/budget.
static unsigned digits_of(uint64_t number)
{
    unsigned digits = 1;

    for (; number >= 10000; number /= 10000) {
        digits += 4;
    }
    return digits + (number >= 10) + (number >= 100) + (number >= 1000);
}

char *digits_write(char *at, uint64_t number)
{
    char *end = at + digits_of(number);
    char *first = end;

    while (number >= 100) {
        first -= 2;
        memcpy(first, pairs + number % 100 * 2, 2);
        number /= 100;
    }
    if (number >= 10) {
        memcpy(at, pairs + number * 2, 2);
    } else {
        *at = (char)('0' + number);
    }
    return end;
}

const char *digits_take_many(const char *at, const char *end, uint64_t *number)
{
    uint64_t value = 0;

    for (; at < end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';

        if (digit > 9) {
            break;
        }
        if (value > (UINT64_MAX - digit) / 10) {
            return NULL;
        }
        value = value * 10 + digit;
    }
    *number = value;
    return at;
}

bool digits_read(struct slice text, uint64_t *number)
{
    uint64_t value = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(unsigned char)text.ptr[i] - '0';

        if (digit > 9) {
            return false;
        }
        value = value * 10 + digit;
    }
    // Only a longer text can exceed the range. It is read again, with a check of each digit.
    if (text.len == 0 ||
        (text.len > DIGITS_FIT && !digits_take_many(text.ptr, slice_end(text), &value))) {
        return false;
    }
    *number = value;
    return true;
}
