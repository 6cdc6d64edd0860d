/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_HTTP1_HEAD_H
#define TANDEM_PROTO_COMMON_HTTP1_HEAD_H

// The head of a request, looked at byte by byte before anything else sees it, and taken apart into
// its lines. A head that passes here means the same to every parser; what some take one way and
// some another is refused, because requests are smuggled through such gaps.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// The most lines behind the request line.
#define HTTP1_HEADERS_MAX 100

enum http1_head_verdict {
    HTTP1_HEAD_MORE, // nothing wrong so far
    HTTP1_HEAD_DONE, // complete
    HTTP1_HEAD_BAD,
    HTTP1_HEAD_VERSION, // neither HTTP/1.0 nor HTTP/1.1
    HTTP1_HEAD_LONG     // more bytes, or more lines, than are allowed
};

// How far a head has been looked at; all zero at first.
struct http1_head_scan {
    size_t checked; // bytes that need not be looked at again: whole lines
    unsigned lines; // among them
};

struct http1_header {
    struct slice name;  // empty: it is no token, and the line says nothing
    struct slice value; // up to the CR that ends the line, with the blanks around it; of a line
                        // that says nothing, all of it
};

// The parts of a head, in the bytes that it came as.
struct http1_head {
    struct slice bytes; // all of it, with the empty line
    struct slice method, target, version;
    unsigned count;
    struct http1_header headers[HTTP1_HEADERS_MAX];
};

// Looks at what is there of a head, `max` bytes at most, which begins where it began before. DONE:
// its parts in `*head`, which are valid as long as the input. The verdict does not depend on the
// pieces in which the bytes arrive.
enum http1_head_verdict http1_head_check(struct http1_head_scan *scan, struct slice input,
                                         size_t max, struct http1_head *head);

#endif
