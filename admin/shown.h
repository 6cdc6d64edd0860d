/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SHOWN_H
#define TANDEM_ADMIN_SHOWN_H

// How the API says what the broker knows. Names and keys may have any bytes: they are shown as
// text, and names of queues once more as they stand in paths, which is exact. Each function returns
// NULL without memory, which json_pack() passes on.

#include "core/base/nsec.h"
#include "core/base/slice.h"

#include <jansson.h>

// A text with U+FFFD for each byte that is no UTF-8, and for NUL, which readers in C stumble over.
json_t *shown_text(struct slice bytes);

// The same, null for no bytes.
json_t *shown_text_or_null(struct slice bytes);

// Percent-encoded, but for letters, digits and -._~ (RFC 3986, unreserved).
json_t *shown_path(struct slice name);

json_t *shown_seconds(nsec_t span);

#endif
