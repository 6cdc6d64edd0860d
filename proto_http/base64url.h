/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_BASE64URL_H
#define TANDEM_PROTO_HTTP_BASE64URL_H

// Bytes as text that needs no escape in a target or a header (RFC 4648, 5), without padding.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// How many characters so many bytes become.
#define BASE64URL_LEN(size) (((size)*4 + 2) / 3)

// Writes those, and no NUL.
void base64url_write(const unsigned char *bytes, size_t size, char *to);

// Reads `size` bytes. False for what is not the one spelling of so many.
bool base64url_read(struct slice text, unsigned char *bytes, size_t size);

#endif
