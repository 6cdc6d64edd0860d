/* SPDX-License-Identifier: MIT */
#include "admin/body_lines.h"

#include <string.h>

bool body_lines_begin(struct body_lines *lines, struct slice body, struct blob *blob)
{
    *lines = (struct body_lines){.blob = blob ? blob_ref(blob) : blob_copy(body)};
    return lines->blob != NULL;
}

void body_lines_end(struct body_lines *lines)
{
    if (lines->blob) {
        blob_unref(lines->blob);
        lines->blob = NULL;
    }
}

bool body_lines_next(struct body_lines *lines, struct slice *text)
{
    struct slice left = slice_from(blob_slice(lines->blob), lines->at);
    const char *end = left.len > 0 ? memchr(left.ptr, '\n', left.len) : NULL;

    if (left.len == 0) {
        return false;
    }
    *text = slice_of(left.ptr, end ? (size_t)(end - left.ptr) : left.len);
    lines->at += text->len + (end != NULL);
    lines->line++;
    if (text->len > 0 && text->ptr[text->len - 1] == '\r') {
        text->len--;
    }
    return true;
}

void body_lines_stop(struct body_lines *lines)
{
    lines->at = blob_slice(lines->blob).len;
}
