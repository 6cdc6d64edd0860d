/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_UTF8_H
#define TANDEM_CORE_BASE_UTF8_H

// UTF-8, as RFC 3629 has it: nothing overlong, no surrogates, nothing above U+10FFFF.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// How long the sequence of one character is that is there, 1 to 4 bytes; 0: there is none in the
// `left` (at least 1) bytes.
size_t utf8_sequence(const unsigned char *at, size_t left);

// Whether all of it is UTF-8.
bool utf8_valid(struct slice text);

#endif
