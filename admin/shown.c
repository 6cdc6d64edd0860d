/* SPDX-License-Identifier: MIT */
#include "admin/shown.h"

#include "core/base/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"
// What a byte becomes at most.
#define GROWTH 3

static size_t put_replaced(char *to, struct slice bytes)
{
    size_t len = 0;
    size_t sequence;

    for (size_t i = 0; i < bytes.len; i += sequence ? sequence : 1) {
        const char *at = bytes.ptr + i;

        sequence = *at ? utf8_sequence((const unsigned char *)at, bytes.len - i) : 0;
        memcpy(to + len, sequence ? at : REPLACEMENT, sequence ? sequence : GROWTH);
        len += sequence ? sequence : GROWTH;
    }
    return len;
}

static bool is_plain(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' || byte == '~';
}

static size_t put_encoded(char *to, struct slice bytes)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t len = 0;

    // Not to be taken for steps of a path (input.c takes it off again).
    if (slice_equal(bytes, SLICE(".")) || slice_equal(bytes, SLICE(".."))) {
        to[len++] = '%';
        to[len++] = '0';
        to[len++] = '0';
    }
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char byte = (unsigned char)bytes.ptr[i];

        if (is_plain(byte)) {
            to[len++] = (char)byte;
        } else {
            to[len++] = '%';
            to[len++] = digits[byte >> 4];
            to[len++] = digits[byte & 15];
        }
    }
    return len;
}

static json_t *converted(struct slice bytes, size_t (*put)(char *to, struct slice bytes))
{
    char *text = malloc(GROWTH * bytes.len + GROWTH);
    json_t *shown = text ? json_stringn_nocheck(text, put(text, bytes)) : NULL;

    free(text);
    return shown;
}

json_t *shown_text(struct slice bytes)
{
    return converted(bytes, put_replaced);
}

json_t *shown_text_or_null(struct slice bytes)
{
    return bytes.len > 0 ? shown_text(bytes) : json_null();
}

json_t *shown_path(struct slice name)
{
    return converted(name, put_encoded);
}

json_t *shown_seconds(nsec_t span)
{
    return json_real((double)span / (double)NSEC_PER_SEC);
}
