/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_BODY_LINES_H
#define TANDEM_ADMIN_BODY_LINES_H

// The lines of a request's body, read in slices while the answer is made.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Lines, and bytes of lines, of a slice; the line that has begun by then is finished.
#define LINES_AT_ONCE 32
#define LINE_BYTES_AT_ONCE ((size_t)32 * 1024)

struct body_lines {
    struct blob *blob; // owned
    size_t at;         // how far it was read
    uint64_t line;     // the number of the last line that was, from 1
};

// `blob` is what the body is in, NULL where that is none. False without memory.
bool body_lines_begin(struct body_lines *lines, struct slice body, struct blob *blob) MUST_USE;
void body_lines_end(struct body_lines *lines);
// The next line, without its end; false behind the last one.
bool body_lines_next(struct body_lines *lines, struct slice *text);
// No more lines come.
void body_lines_stop(struct body_lines *lines);

#endif
