/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_BASE64_H
#define TANDEM_CORE_BASE_BASE64_H

// Bytes as base64 (RFC 4648, 4): the alphabet with + and /, padded, and nothing else.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// The most bytes that a text of so many becomes.
static inline size_t base64_decoded_room(size_t len)
{
    return len / 4 * 3;
}

// Decodes `text` to `to`, which has room for base64_decoded_room(); `*len` is how many bytes there
// are. False where it is no base64. `to` may be where the text is.
bool base64_decode(struct slice text, char *to, size_t *len);

// The letters that so many bytes become, and those of `bytes` to `to`, without a NUL.
static inline size_t base64_encoded_len(size_t len)
{
    return (len + 2) / 3 * 4;
}
void base64_encode(struct slice bytes, char *to);

#endif
