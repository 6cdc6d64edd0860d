/* SPDX-License-Identifier: MIT */
#include "admin/request/parts.h"

// Behind the string that begins there, or behind the text.
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\' && at + 1 < end) {
            at++;
        }
    }
    return at < end ? at + 1 : end;
}

bool parts_fit(struct slice text, size_t most)
{
    const char *at = text.ptr;
    const char *end = slice_end(text);
    size_t parts = 1;

    while (at < end && parts <= most) {
        // What is in front of another part.
        parts += *at == ',' || *at == ':' || *at == '[' || *at == '{';
        at = *at == '"' ? skip_string(at, end) : at + 1;
    }
    return parts <= most;
}
