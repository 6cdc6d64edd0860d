/* SPDX-License-Identifier: MIT */
#include "http1/events.h"

#include "core/base/digits.h"
#include "core/base/macros.h"

#include <inttypes.h>
#include <stdio.h>

// The lines of an event before its data, and NUL.
#define LINES_MAX (sizeof "id: \nevent: \ndata: " + DIGITS_MAX + HTTP1_EVENT_NAME_MAX)
// A size in hexadecimal digits, CRLF and NUL.
#define SIZE_LINE_MAX 24

void http1_piece(struct output *out, bool chunked, const struct slice *parts, size_t count)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++) {
        total += parts[i].len;
    }
    ENSURE(total > 0);
    if (chunked) {
        char size[SIZE_LINE_MAX];
        int len = snprintf(size, sizeof size, "%zx\r\n", total);

        output_write(out, slice_of(size, (size_t)len));
    }
    for (size_t i = 0; i < count; i++) {
        output_write(out, parts[i]);
    }
    if (chunked) {
        output_write(out, SLICE("\r\n"));
    }
}

void http1_pieces_end(struct output *out, bool chunked)
{
    if (chunked) {
        output_write(out, SLICE("0\r\n\r\n"));
    }
}

void http1_event(struct output *out, bool chunked, uint64_t id, const char *name, struct slice data)
{
    char lines[LINES_MAX];
    int len = snprintf(lines, sizeof lines, "id: %" PRIu64 "\nevent: %s\ndata: ", id, name);

    ENSURE(len > 0 && (size_t)len < sizeof lines);
    http1_piece(out, chunked,
                (const struct slice[]){slice_of(lines, (size_t)len), data, SLICE("\n\n")}, 3);
}

void http1_event_comment(struct output *out, bool chunked)
{
    http1_piece(out, chunked, &SLICE(":\n\n"), 1);
}
