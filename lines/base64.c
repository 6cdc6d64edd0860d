/* SPDX-License-Identifier: MIT */
#include "lines/base64.h"

#include <stdint.h>

// What a letter stands for; 64: nothing.
static uint32_t value_of(char letter)
{
    if (letter >= 'A' && letter <= 'Z') {
        return (uint32_t)(letter - 'A');
    }
    if (letter >= 'a' && letter <= 'z') {
        return (uint32_t)(letter - 'a') + 26;
    }
    if (letter >= '0' && letter <= '9') {
        return (uint32_t)(letter - '0') + 52;
    }
    return letter == '+' ? 62 : letter == '/' ? 63 : 64;
}

// How many of the last four letters are padding.
static size_t padding_of(struct slice text)
{
    if (text.len == 0 || text.ptr[text.len - 1] != '=') {
        return 0;
    }
    return text.ptr[text.len - 2] == '=' ? 2 : 1;
}

bool line_base64_read(struct slice text, char *to, size_t *len)
{
    size_t padding;

    *len = 0;
    if (text.len % 4 != 0) {
        return false;
    }
    padding = padding_of(text);
    for (size_t at = 0; at < text.len; at += 4) {
        size_t missing = at + 4 == text.len ? padding : 0;
        uint32_t bits = 0;

        for (size_t i = 0; i < 4; i++) {
            uint32_t value = i < 4 - missing ? value_of(text.ptr[at + i]) : 0;

            if (value == 64) {
                return false;
            }
            bits = bits << 6 | value;
        }
        // What the padding leaves over is nothing.
        if (bits & ((1u << (8 * missing)) - 1)) {
            return false;
        }
        for (size_t i = 0; i < 3 - missing; i++) {
            to[(*len)++] = (char)(bits >> (16 - 8 * i) & 0xff);
        }
    }
    return true;
}

void line_base64_write(struct slice bytes, char *to)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t at = 0; at < bytes.len; at += 3) {
        size_t count = bytes.len - at < 3 ? bytes.len - at : 3;
        uint32_t bits = 0;

        for (size_t i = 0; i < 3; i++) {
            bits = bits << 8 | (i < count ? (unsigned char)bytes.ptr[at + i] : 0u);
        }
        for (size_t i = 0; i < 4; i++) {
            *to++ = '=';
            if (i <= count) {
                to[-1] = letters[bits >> (18 - 6 * i) & 63];
            }
        }
    }
}
