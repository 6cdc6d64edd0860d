/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_KEYS_H
#define TANDEM_CTL_PRINT_KEYS_H

// Parses keys from the bytes that a terminal sends.

#include "core/base/slice.h"

#include <stddef.h>

// Keys without a character. Other keys are their byte.
enum key {
    KEY_NONE = 256,
    KEY_UP,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_ESCAPE
};

// Parses the first key and sets `*len` to its length. `bytes` must not be empty. KEY_NONE for an
// unknown sequence; KEY_ESCAPE for an incomplete one.
int keys_take(struct slice bytes, size_t *len);

#endif
