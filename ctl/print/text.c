/* SPDX-License-Identifier: MIT */

// Declares wcwidth().
#define _GNU_SOURCE
#include "ctl/print/text.h"

#include "core/base/macros.h"
#include "core/base/utf8.h"
#include "ctl/print/need.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

// Makes room for `len` more bytes and a NUL.
static char *text_reserve(struct text *text, size_t len)
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
    char *at = text_reserve(text, bytes.len);

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
    memset(text_reserve(text, count), c, count);
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
    (void)text_reserve(text, (size_t)len);
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

//
// UTF-8
//

// Stands for a byte that is not valid UTF-8.
#define NO_CHARACTER UINT32_MAX

void text_set_locale(void)
{
    (void)setlocale(LC_CTYPE, "C.UTF-8");
}

// Parses the first character; `from` must not be empty. Returns its length, 1 for NO_CHARACTER.
static size_t take_character(struct slice from, uint32_t *character)
{
    const unsigned char *bytes = (const unsigned char *)from.ptr;
    size_t len = utf8_sequence(bytes, from.len);

    *character = len == 0 ? NO_CHARACTER : len == 1 ? bytes[0] : bytes[0] & (0x7fU >> len);
    for (size_t i = 1; i < len; i++) {
        *character = *character << 6 | (bytes[i] & 0x3fU);
    }
    return len ? len : 1;
}

// Whether the character is invisible and changes the direction of text, or joins or separates
// letters.
static bool is_invisible(uint32_t character)
{
    return character == 0x61c || (character >= 0x200b && character <= 0x200f) ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2060 && character <= 0x206f) || character == 0xfeff;
}

static bool is_printable(uint32_t character)
{
    return character != NO_CHARACTER && !is_invisible(character) &&
           wcwidth((wchar_t)character) >= 0;
}

static void text_escape(struct text *to, uint32_t character, unsigned char first)
{
    if (character == '\n' || character == '\t' || character == '\r') {
        text_format(to, "\\%c", character == '\n' ? 'n' : character == '\t' ? 't' : 'r');
    } else if (character == NO_CHARACTER || character < 0x80) {
        text_format(to, "\\x%02x", (unsigned)first);
    } else {
        text_format(to, "\\u{%x}", (unsigned)character);
    }
}

void text_add_escaped(struct text *to, struct slice from, bool lines)
{
    uint32_t character;

    for (size_t at = 0, len; at < from.len; at += len) {
        len = take_character(slice_from(from, at), &character);
        if ((lines && (character == '\n' || character == '\t')) ||
            (character && is_printable(character))) {
            text_add(to, slice_of(from.ptr + at, len));
        } else {
            text_escape(to, character, (unsigned char)from.ptr[at]);
        }
    }
}

static size_t character_width(uint32_t character)
{
    int width = character == NO_CHARACTER ? 1 : wcwidth((wchar_t)character);

    return width > 0 ? (size_t)width : 0;
}

size_t text_width(struct slice utf8)
{
    size_t width = 0;
    uint32_t character;

    for (size_t at = 0; at < utf8.len;) {
        at += take_character(slice_from(utf8, at), &character);
        width += character_width(character);
    }
    return width;
}

size_t text_fit(struct slice utf8, size_t columns)
{
    size_t width = 0;
    size_t at = 0;
    uint32_t character;

    while (at < utf8.len) {
        size_t len = take_character(slice_from(utf8, at), &character);

        width += character_width(character);
        if (width > columns) {
            break;
        }
        at += len;
    }
    return at;
}

bool text_is_readable(struct slice bytes)
{
    uint32_t character;

    for (size_t at = 0; at < bytes.len;) {
        at += take_character(slice_from(bytes, at), &character);
        if (character != '\n' && character != '\t' && character != '\r' &&
            (!character || !is_printable(character))) {
            return false;
        }
    }
    return true;
}
