/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_HEAD_H
#define TANDEM_HTTP1_HEAD_H

// The strict check of a request's head, byte by byte, before http-parser reads it (fields.h). It
// only refuses: a head that passes here means the same to every parser. What some parsers take one
// way and some another is refused, because requests are smuggled through such gaps: a line without
// CR LF at its end, a folded line, a blank before a colon, control bytes, more than one blank in
// the request line, a version other than 1.0 and 1.1.
//
// Nothing is allocated or copied; the slices are in the caller's input.

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

// How far a head has been checked; all zero at first.
struct http1_head_scan {
    size_t checked; // bytes of whole lines, which are not checked again
    unsigned lines; // the number of those lines
    bool odd;       // among them are odd lines
};

// A head that has passed.
struct http1_head {
    struct slice bytes; // with the empty line at its end
    bool odd;           // some lines are odd: their name is no token, and they are ignored
};

// Checks what has come of a head, which begins where it began in the last call and may have at most
// `max` bytes. DONE: it is `*head`, in the input. The verdict does not depend on the pieces in
// which the bytes arrive.
enum http1_head_verdict http1_head_check(struct http1_head_scan *scan, struct slice input,
                                         size_t max, struct http1_head *head);

// Finds the next odd line behind `*line`, or the first one where that is empty; false where there
// is no other. The line includes its CR LF.
bool http1_head_next_odd(const struct http1_head *head, struct slice *line);

#endif
