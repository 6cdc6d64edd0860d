/* SPDX-License-Identifier: MIT */
#include "admin/metrics_label.h"

#include "core/base/utf8.h"

#include <stdbool.h>
#include <string.h>

#define PREFIX "bytes:"

// A byte as the format has it between quotes: three are escaped.
static char *put(char *to, char byte)
{
    if (byte == '\n') {
        *to++ = '\\';
        *to++ = 'n';
        return to;
    }
    if (byte == '\\' || byte == '"') {
        *to++ = '\\';
    }
    *to++ = byte;
    return to;
}

static char *put_spelt(char *to, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";

    to = put(to, '\\');
    *to++ = 'x';
    *to++ = digits[byte >> 4];
    *to++ = digits[byte & 15];
    return to;
}

static size_t spell(char *to, struct slice name)
{
    char *end = to;

    memcpy(end, PREFIX, sizeof PREFIX - 1);
    end += sizeof PREFIX - 1;
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] < ' ' || name.ptr[i] > '~') {
            end = put_spelt(end, (unsigned char)name.ptr[i]);
        } else {
            if (name.ptr[i] == '\\') {
                end = put(end, '\\');
            }
            end = put(end, name.ptr[i]);
        }
    }
    return (size_t)(end - to);
}

static bool has_prefix(struct slice name)
{
    return name.len >= sizeof PREFIX - 1 && memcmp(name.ptr, PREFIX, sizeof PREFIX - 1) == 0;
}

size_t metrics_label(char *to, struct slice name)
{
    char *end = to;

    if (has_prefix(name) || !utf8_valid(name)) {
        return spell(to, name);
    }
    for (size_t i = 0; i < name.len; i++) {
        end = put(end, name.ptr[i]);
    }
    return (size_t)(end - to);
}

size_t metrics_escape(char *to, struct slice text)
{
    const unsigned char *at = (const unsigned char *)text.ptr;
    char *end = to;
    size_t len;

    for (size_t i = 0; i < text.len; i += len) {
        len = utf8_sequence(at + i, text.len - i);
        if (len == 1) {
            end = put(end, text.ptr[i]);
        } else if (len == 0) {
            len = 1;
            *end++ = '?';
        } else {
            memcpy(end, text.ptr + i, len);
            end += len;
        }
    }
    return (size_t)(end - to);
}
