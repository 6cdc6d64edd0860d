/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_KEYS_H
#define TANDEM_CTL_PRINT_KEYS_H

// Keys, out of the bytes that a terminal sends for them.

#include "core/base/slice.h"

#include <stddef.h>

// A key that is no character. Others are their byte.
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

// The first key of bytes that are not empty, and how many of them it takes; KEY_NONE for one that
// has no name. What ends in the middle of a key's bytes is taken for KEY_ESCAPE.
int keys_take(struct slice bytes, size_t *len);

#endif
