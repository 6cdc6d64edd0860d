/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_TEXT_H
#define TANDEM_ACCESS_TEXT_H

// A whole file in memory.

#include "core/base/macros.h"

#include <stddef.h>

// The longest file that is read, in bytes.
#define TEXT_MOST ((size_t)1 << 20)

struct text {
    char *bytes; // owned, by free()
    size_t len;
};

// Reads a regular file; waits for nothing, whatever else the path is. NULL, or what is wrong.
const char *text_read(const char *path, struct text *text) MUST_USE;

#endif
