/* SPDX-License-Identifier: MIT */
#include "ctl/print/text.h"

#include "core/base/macros.h"
#include "ctl/print/need.h"

#include <stdio.h>

// Makes room for `len` more bytes and a NUL.
static char *make_room(struct text *text, size_t len)
{
    size_t capacity = text->capacity ? text->capacity : 64;

    while (capacity - 1 < text->len + len) {
        capacity *= 2;
    }
    if (capacity != text->capacity) {
        text->data = need(realloc(text->data, capacity));
        text->capacity = capacity;
    }
    return text->data + text->len;
}

void text_add(struct text *text, struct slice bytes)
{
    char *at = make_room(text, bytes.len);

    if (bytes.len > 0) {
        memcpy(at, bytes.ptr, bytes.len);
    }
    text->len += bytes.len;
    text->data[text->len] = '\0';
}

void text_put(struct text *text, const char *string)
{
    text_add(text, slice_str(string));
}

void text_put_char(struct text *text, char c)
{
    text_add(text, slice_of(&c, 1));
}

void text_fill(struct text *text, char c, size_t count)
{
    memset(make_room(text, count), c, count);
    text->len += count;
    text->data[text->len] = '\0';
}

void text_vformat(struct text *text, const char *format, va_list args)
{
    va_list again;
    int len;

    va_copy(again, args);
    len = vsnprintf(NULL, 0, format, args);
    ENSURE(len >= 0);
    (void)make_room(text, (size_t)len);
    (void)vsnprintf(text->data + text->len, (size_t)len + 1, format, again);
    va_end(again);
    text->len += (size_t)len;
}

void text_format(struct text *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_vformat(text, format, args);
    va_end(args);
}

void text_cut(struct text *text, size_t len)
{
    ENSURE(len <= text->len);
    text->len = len;
    if (text->data) {
        text->data[len] = '\0';
    }
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

const char *text_string(const struct text *text)
{
    return text->data ? text->data : "";
}
