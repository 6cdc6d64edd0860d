/* SPDX-License-Identifier: MIT */
#include "admin/path.h"

#include <string.h>

// Takes the next segment off the text, with the slash in front of it. False at the end, and where
// no slash is in front.
static bool next_segment(struct slice *text, struct slice *segment)
{
    size_t len = 1;

    if (text->len == 0 || *text->ptr != '/') {
        return false;
    }
    while (len < text->len && text->ptr[len] != '/') {
        len++;
    }
    *segment = slice_of(text->ptr + 1, len - 1);
    *text = slice_from(*text, len);
    return true;
}

static bool is_arg(struct slice segment)
{
    return segment.len > 0 && *segment.ptr == '{';
}

bool path_matches(struct slice path, const char *pattern, struct slice args[PATH_ARGS_MAX])
{
    struct slice wanted = slice_str(pattern);
    struct slice want, have;
    size_t count = 0;

    while (next_segment(&wanted, &want)) {
        if (!next_segment(&path, &have)) {
            return false;
        }
        if (is_arg(want) && have.len > 0 && count < PATH_ARGS_MAX) {
            args[count++] = have;
        } else if (!slice_equal(want, have)) {
            return false;
        }
    }
    return path.len == 0;
}
