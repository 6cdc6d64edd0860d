/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_TEXT_H
#define TANDEM_CTL_PRINT_TEXT_H

// A growing buffer of bytes. A zeroed text is empty, and text_free() frees its memory. If memory is
// exhausted, the program exits (need.h).
//
// Clients choose names and bodies, so these are escaped before a terminal shows them:
// text_add_escaped() replaces characters that move the cursor, change colours or turn the direction
// of text.

#include "core/base/slice.h"

#include <stdarg.h>
#include <stdbool.h>
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

//
// UTF-8
//

// Sets the locale so that widths are those of Unicode. Call it before the functions below.
void text_set_locale(void);

// Adds `from` with unprintable characters escaped as \n, \x1b or \u{202e}, and invalid UTF-8 as
// \xff. If `lines`, line feeds and tabs are kept.
void text_add_escaped(struct text *to, struct slice from, bool lines);

// The width in columns of text that has been escaped.
size_t text_width(struct slice utf8);

// The number of bytes that fit in `columns`.
size_t text_fit(struct slice utf8, size_t columns);

// Whether the bytes are valid UTF-8 without control characters other than line feed, carriage
// return and tab.
bool text_is_readable(struct slice bytes);

#endif
