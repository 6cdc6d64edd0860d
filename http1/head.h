/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_HEAD_H
#define TANDEM_HTTP1_HEAD_H

// Checks a request's head strictly, byte by byte, before http-parser reads it (fields.h). A head
// that passes means the same to every parser. Input that parsers interpret differently is refused,
// because it allows request smuggling: a line without CRLF, a folded line, a blank before a colon,
// control bytes, more than one blank in the request line, a version other than 1.0 and 1.1.
//
// Nothing is allocated or copied; the slices are in the caller's input.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// The most lines after the request line.
#define HTTP1_HEADERS_MAX 100

enum http1_head_verdict {
    HTTP1_HEAD_MORE, // valid so far
    HTTP1_HEAD_DONE, // complete
    HTTP1_HEAD_BAD,
    HTTP1_HEAD_VERSION, // neither HTTP/1.0 nor HTTP/1.1
    HTTP1_HEAD_LONG     // more bytes or lines than are allowed
};

// The progress of a check. Initialized to zero.
struct http1_head_scan {
    size_t checked; // bytes of complete lines, which are not checked again
    unsigned lines; // the number of those lines
    bool odd;       // some of them are odd lines
};

// A head that passed the check.
struct http1_head {
    struct slice bytes; // including the empty line at its end
    bool odd;           // has lines whose name is not a token; they are ignored
};

// Checks the input, which begins at the same byte as in the last call; a head may have at most
// `max` bytes. DONE: sets `*head`, in the input. The result does not depend on how the bytes were
// split.
enum http1_head_verdict http1_head_check(struct http1_head_scan *scan, struct slice input,
                                         size_t max, struct http1_head *head);

// Finds the next odd line after `*line`, or the first one if that is empty. False: there is no
// other. The line includes its CRLF.
bool http1_head_next_odd(const struct http1_head *head, struct slice *line);

#endif
