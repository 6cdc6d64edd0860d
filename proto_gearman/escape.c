/* SPDX-License-Identifier: MIT */
#include "proto_gearman/escape.h"

#include <stdbool.h>

static bool is_hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}

static bool looks_escaped(struct slice text)
{
    return text.len >= 3 && is_hex_digit(text.ptr[1]) && is_hex_digit(text.ptr[2]);
}

// Whether the first byte of the text is written as it is.
static bool stands_for_itself(struct slice text, enum gear_escape kind)
{
    unsigned char c = (unsigned char)*text.ptr;

    if (c == ' ') {
        return kind != GEAR_ESCAPE_WORD;
    }
    if (c == '%') {
        return kind == GEAR_ESCAPE_ECHO || !looks_escaped(text);
    }
    return c > ' ' && c != 0x7f;
}

static void write_escaped(struct output *out, char c)
{
    static const char hex[] = "0123456789ABCDEF";
    unsigned char byte = (unsigned char)c;
    char escape[] = {'%', hex[byte >> 4], hex[byte & 15]};

    output_write(out, slice_of(escape, sizeof escape));
}

void gear_escape_write(struct output *out, struct slice text, enum gear_escape kind)
{
    while (text.len > 0) {
        size_t run = 0;

        while (run < text.len && stands_for_itself(slice_from(text, run), kind)) {
            run++;
        }
        output_write(out, slice_of(text.ptr, run));
        text = slice_from(text, run);
        if (text.len > 0) {
            write_escaped(out, *text.ptr);
            text = slice_from(text, 1);
        }
    }
}
