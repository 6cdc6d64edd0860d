/* SPDX-License-Identifier: MIT */

// Declares wcwidth().
#define _GNU_SOURCE
#include "ctl/print/letters.h"

#include "core/base/utf8.h"

#include <locale.h>
#include <wchar.h>

// Stands for a byte that is not valid UTF-8.
#define NO_LETTER UINT32_MAX

void letters_begin(void)
{
    (void)setlocale(LC_CTYPE, "C.UTF-8");
}

// Parses the first character; `from` must not be empty. Returns its length, 1 for NO_LETTER.
static size_t take(struct slice from, uint32_t *letter)
{
    const unsigned char *bytes = (const unsigned char *)from.ptr;
    size_t len = utf8_sequence(bytes, from.len);

    *letter = len == 0 ? NO_LETTER : len == 1 ? bytes[0] : bytes[0] & (0x7fU >> len);
    for (size_t i = 1; i < len; i++) {
        *letter = *letter << 6 | (bytes[i] & 0x3fU);
    }
    return len ? len : 1;
}

// Whether the character is invisible and changes the direction of text, or joins or separates
// letters.
static bool turns(uint32_t letter)
{
    return letter == 0x61c || (letter >= 0x200b && letter <= 0x200f) ||
           (letter >= 0x2028 && letter <= 0x202e) || (letter >= 0x2060 && letter <= 0x206f) ||
           letter == 0xfeff;
}

static bool is_plain(uint32_t letter)
{
    return letter != NO_LETTER && !turns(letter) && wcwidth((wchar_t)letter) >= 0;
}

static void escape(struct text *to, uint32_t letter, unsigned char first)
{
    if (letter == '\n' || letter == '\t' || letter == '\r') {
        text_format(to, "\\%c", letter == '\n' ? 'n' : letter == '\t' ? 't' : 'r');
    } else if (letter == NO_LETTER || letter < 0x80) {
        text_format(to, "\\x%02x", (unsigned)first);
    } else {
        text_format(to, "\\u{%x}", (unsigned)letter);
    }
}

void letters_escape(struct text *to, struct slice from, bool lines)
{
    uint32_t letter;

    for (size_t at = 0, len; at < from.len; at += len) {
        len = take(slice_from(from, at), &letter);
        if ((lines && (letter == '\n' || letter == '\t')) || (letter && is_plain(letter))) {
            text_add(to, slice_of(from.ptr + at, len));
        } else {
            escape(to, letter, (unsigned char)from.ptr[at]);
        }
    }
}

static size_t width_of(uint32_t letter)
{
    int width = letter == NO_LETTER ? 1 : wcwidth((wchar_t)letter);

    return width > 0 ? (size_t)width : 0;
}

size_t letters_width(struct slice utf8)
{
    size_t width = 0;
    uint32_t letter;

    for (size_t at = 0; at < utf8.len;) {
        at += take(slice_from(utf8, at), &letter);
        width += width_of(letter);
    }
    return width;
}

size_t letters_fit(struct slice utf8, size_t columns)
{
    size_t width = 0;
    size_t at = 0;
    uint32_t letter;

    while (at < utf8.len) {
        size_t len = take(slice_from(utf8, at), &letter);

        width += width_of(letter);
        if (width > columns) {
            break;
        }
        at += len;
    }
    return at;
}

bool letters_readable(struct slice bytes)
{
    uint32_t letter;

    for (size_t at = 0; at < bytes.len;) {
        at += take(slice_from(bytes, at), &letter);
        if (letter != '\n' && letter != '\t' && letter != '\r' && (!letter || !is_plain(letter))) {
            return false;
        }
    }
    return true;
}
