/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_JSON_STRING_H
#define TANDEM_PROTO_COMMON_JSON_STRING_H

// Long JSON strings, made in parts. The escapes are those of jansson.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// The maximum number of bytes that a byte becomes.
#define JSON_ESCAPED_MAX 6

// Checks about `most` bytes of `bytes` from `*checked`, the beginning of a sequence, and moves
// `*checked` to the end of the valid UTF-8. False: the bytes are not UTF-8.
bool json_check_utf8(struct slice bytes, size_t *checked, size_t most);

// Writes UTF-8, which may begin or end within a sequence, as the inside of a string to `to`, which
// has room for JSON_ESCAPED_MAX times its length. Returns the number of bytes written.
size_t json_escape(char *to, struct slice text);

// The same for any bytes, in base64. The length of each part except the last must be a multiple of
// 3.
size_t json_base64(char *to, struct slice bytes);

#endif
