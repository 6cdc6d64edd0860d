/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_BASE64_H
#define TANDEM_ADMIN_BASE64_H

// Bytes that come as base64 (RFC 4648, 4): the alphabet with + and /, padded, and nothing else.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// The most bytes that a text of so many becomes.
static inline size_t base64_room(size_t len)
{
    return len / 4 * 3;
}

// Decodes `text` to `to`, which has room for base64_room(); `*len` is how many bytes there are.
// False where it is no base64. `to` may be where the text is.
bool base64_read(struct slice text, char *to, size_t *len);

#endif
