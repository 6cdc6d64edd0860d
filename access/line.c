/* SPDX-License-Identifier: MIT */
#include "access/line.h"

bool lines_next(struct lines *lines, struct slice *line)
{
    const char *end;

    if (lines->rest.len == 0) {
        return false;
    }
    end = memchr(lines->rest.ptr, '\n', lines->rest.len);
    *line = slice_of(lines->rest.ptr, end ? (size_t)(end - lines->rest.ptr) : lines->rest.len);
    lines->rest = slice_from(lines->rest, line->len + (end ? 1 : 0));
    lines->number++;
    if (line->len > 0 && line->ptr[line->len - 1] == '\r') {
        line->len--;
    }
    return true;
}

const char *line_check(struct slice line)
{
    if (line.len > LINE_MOST) {
        return "the line is too long";
    }
    for (size_t i = 0; i < line.len; i++) {
        unsigned char byte = (unsigned char)line.ptr[i];

        if ((byte < ' ' && byte != '\t') || byte == 0x7f) {
            return "the line has a control character";
        }
    }
    return NULL;
}

bool line_word(struct slice *line, struct slice *word)
{
    size_t len = 0;

    while (line->len > 0 && slice_is_blank(*line->ptr)) {
        *line = slice_from(*line, 1);
    }
    while (len < line->len && !slice_is_blank(line->ptr[len])) {
        len++;
    }
    *word = slice_of(line->ptr, len);
    *line = slice_from(*line, len);
    return len > 0;
}

bool line_item(struct slice *list, struct slice *item)
{
    size_t len = 0;

    if (!list->ptr) {
        return false;
    }
    while (len < list->len && list->ptr[len] != ',') {
        len += list->ptr[len] == '\\' && len + 1 < list->len ? 2 : 1;
    }
    *item = slice_of(list->ptr, len);
    *list = len < list->len ? slice_from(*list, len + 1) : slice_of(NULL, 0);
    return true;
}

// The value of a hexadecimal digit; 16: not a digit.
static unsigned digit(char c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *found = memchr(digits, c, sizeof digits - 1);
    unsigned at = found ? (unsigned)(found - digits) : 16;

    return !found || at < 16 ? at : at - 6;
}

// Whether two hexadecimal digits follow each \x.
static bool has_digits(const char *glob, size_t len)
{
    for (size_t at = 0; at + 1 < len; at++) {
        if (glob[at] == '\\' && glob[++at] == 'x' &&
            (len - at < 3 || digit(glob[at + 1]) > 15 || digit(glob[at + 2]) > 15)) {
            return false;
        }
    }
    return true;
}

size_t line_unescape(char *glob, size_t len)
{
    size_t to = 0;

    if (!has_digits(glob, len)) {
        return len + 1;
    }
    for (size_t at = 0; at < len; at++) {
        glob[to++] = glob[at];
        if (glob[at] != '\\' || at + 1 == len) {
            continue;
        }
        at++;
        if (glob[at] == 'x') {
            glob[at + 2] = (char)(digit(glob[at + 1]) << 4 | digit(glob[at + 2]));
            at += 2;
        }
        glob[to++] = glob[at];
    }
    return to;
}
