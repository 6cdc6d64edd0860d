/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_UTF8_H
#define TANDEM_CORE_BASE_UTF8_H

// UTF-8 as in RFC 3629: no overlong sequences, no surrogates, nothing above U+10FFFF.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// The length of the character at `at`, 1 to 4 bytes; 0: the `left` bytes (at least 1) do not begin
// with a valid character.
size_t utf8_sequence(const unsigned char *at, size_t left);

// Whether the whole text is UTF-8.
bool utf8_valid(struct slice text);

#endif
