/* SPDX-License-Identifier: MIT */
#include "core/digits.h"

#include <string.h>

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233"
                            "34353637383940414243444546474849505152535455565758596061626364656667"
                            "6869707172737475767778798081828384858687888990919293949596979899";

char *digits_write(char *at, uint64_t number)
{
    char reversed[DIGITS_MAX];
    char *first = reversed + sizeof reversed;
    size_t len;

    while (number >= 100) {
        first -= 2;
        memcpy(first, pairs + number % 100 * 2, 2);
        number /= 100;
    }
    if (number >= 10) {
        first -= 2;
        memcpy(first, pairs + number * 2, 2);
    } else {
        *--first = (char)('0' + number);
    }
    len = (size_t)(reversed + sizeof reversed - first);
    memcpy(at, first, len);
    return at + len;
}

bool digits_read(struct slice text, uint64_t *number)
{
    uint64_t value = 0;

    if (text.len == 0) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(unsigned char)text.ptr[i] - '0';

        if (digit > 9 || value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *number = value;
    return true;
}
