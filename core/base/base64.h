/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_BASE64_H
#define TANDEM_CORE_BASE_BASE64_H

// Base64 (RFC 4648): the standard alphabet, always padded (section 4), and base64url, which needs
// no escape in a URL or a header, never padded (section 5). Decoding accepts only texts that
// encoding produces.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// The most bytes to which a text of that length decodes.
static inline size_t base64_decoded_room(size_t len)
{
    return len / 4 * 3;
}

// Decodes `text` to `to`, which has base64_decoded_room() bytes and may be the address of the text,
// and sets `*len` to the number of bytes. False if the text is not valid base64.
bool base64_decode(struct slice text, char *to, size_t *len);

static inline size_t base64_encoded_len(size_t len)
{
    return (len + 2) / 3 * 4;
}

// Writes base64_encoded_len() letters, without a NUL.
void base64_encode(struct slice bytes, char *to);

// The length of the base64url of `size` bytes.
#define BASE64URL_LEN(size) (((size)*4 + 2) / 3)

// Writes BASE64URL_LEN() letters, without a NUL.
void base64url_encode(struct slice bytes, char *to);

// Decodes exactly `size` bytes. False if the text is not valid base64url of that size.
bool base64url_decode(struct slice text, char *to, size_t size);

#endif
