/* SPDX-License-Identifier: MIT */
#include "proto_common/json_string.h"

#include "core/base/base64.h"
#include "core/base/utf8.h"

#include <stdint.h>
#include <string.h>

#define WORD sizeof(uint64_t)
#define HIGH_BITS UINT64_C(0x8080808080808080)

static bool is_ascii_word(const unsigned char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return !(word & HIGH_BITS);
}

bool json_check_utf8(struct slice bytes, size_t *checked, size_t most)
{
    const unsigned char *start = (const unsigned char *)bytes.ptr;
    size_t end = bytes.len - *checked < most ? bytes.len : *checked + most;

    while (*checked < end) {
        const unsigned char *at = start + *checked;
        size_t left = bytes.len - *checked;
        size_t len = left >= WORD && is_ascii_word(at) ? WORD : utf8_sequence(at, left);

        if (len == 0) {
            return false;
        }
        *checked += len;
    }
    return true;
}

// The letter after the backslash that escapes the byte; 0: there is none.
static char letter_of(unsigned char byte)
{
    switch (byte) {
    case '"':
    case '\\':
        return (char)byte;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    }
    return 0;
}

static char *escape(char *to, unsigned char byte)
{
    static const char digits[] = "0123456789ABCDEF";
    char letter = letter_of(byte);

    *to++ = '\\';
    if (letter) {
        *to++ = letter;
        return to;
    }
    *to++ = 'u';
    *to++ = '0';
    *to++ = '0';
    *to++ = digits[byte >> 4];
    *to++ = digits[byte & 15];
    return to;
}

size_t json_escape(char *to, struct slice text)
{
    char *end = to;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];

        if (byte >= ' ' && byte != '"' && byte != '\\') {
            *end++ = (char)byte;
        } else {
            end = escape(end, byte);
        }
    }
    return (size_t)(end - to);
}

size_t json_base64(char *to, struct slice bytes)
{
    base64_encode(bytes, to);
    return base64_encoded_len(bytes.len);
}
