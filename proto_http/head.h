/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_HEAD_H
#define TANDEM_PROTO_HTTP_HEAD_H

// The head of a request, looked at byte by byte before any parser sees it. A head that passes here
// means the same to every parser; what some take one way and some another is refused, because
// requests are smuggled through such gaps.

#include "core/slice.h"

#include <stdbool.h>
#include <stddef.h>

// The most lines behind the request line.
#define WEB_HEADERS_MAX 100

enum web_head_verdict {
    WEB_HEAD_MORE, // nothing wrong so far
    WEB_HEAD_DONE, // complete
    WEB_HEAD_BAD,
    WEB_HEAD_VERSION, // neither HTTP/1.0 nor HTTP/1.1
    WEB_HEAD_LONG     // more bytes, or more lines, than are allowed
};

// How far a head has been looked at; all zero at first.
struct web_head_scan {
    size_t checked; // bytes that need not be looked at again: whole lines
    unsigned lines; // among them
};

// Looks at what is there of a head, `max` bytes at most. DONE: its length in `*len`, with the empty
// line. The verdict does not depend on the pieces in which the bytes arrive.
enum web_head_verdict web_head_check(struct web_head_scan *scan, struct slice input, size_t max,
                                     size_t *len);

#endif
