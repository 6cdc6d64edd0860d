/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_TEXT_H
#define TANDEM_CTL_PRINT_TEXT_H

// A growing buffer of bytes. A zeroed text is empty, and text_free() frees its memory. If memory is
// exhausted, the program exits (need.h).

#include "core/base/slice.h"

#include <stdarg.h>
#include <stddef.h>

struct text {
    char *data; // NULL until the first addition; otherwise a NUL follows the last byte
    size_t len;
    size_t capacity; /* private */
};

void text_add(struct text *text, struct slice bytes);
void text_put(struct text *text, const char *string);
void text_put_char(struct text *text, char c);
void text_fill(struct text *text, char c, size_t count);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vformat(struct text *text, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

// Truncates the text to `len` bytes, which is at most its length.
void text_cut(struct text *text, size_t len);
void text_free(struct text *text);

// The text as a string, valid until the text changes.
const char *text_string(const struct text *text);

static inline struct slice text_slice(const struct text *text)
{
    return slice_of(text->data, text->len);
}

#endif
