/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_JSON_STRING_H
#define TANDEM_PROTO_COMMON_JSON_STRING_H

// Long strings of JSON, made a part at a time. The escapes are those that jansson writes.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// A byte becomes so many at most.
#define JSON_ESCAPED_MAX 6

// Looks through about `most` bytes of `bytes` from `*checked`, the beginning of a sequence, on, and
// moves that behind what is UTF-8. False: there is something else.
bool json_check_utf8(struct slice bytes, size_t *checked, size_t most);

// Writes UTF-8, or a part of it that may begin or end within a sequence, as the inside of a string
// to `to`, which has room for JSON_ESCAPED_MAX times its length. Returns how many bytes there are.
size_t json_escape(char *to, struct slice text);

// The same, of any bytes in base64. All parts but the last have lengths that 3 divides.
size_t json_base64(char *to, struct slice bytes);

#endif
