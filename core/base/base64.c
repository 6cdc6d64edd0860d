/* SPDX-License-Identifier: MIT */
#include "core/base/base64.h"

#include <stdint.h>
#include <string.h>

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

bool base64_decode(struct slice text, char *to, size_t *len)
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

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode_three(const unsigned char *bytes, char *to)
{
    uint32_t bits = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];

    to[0] = letters[bits >> 18];
    to[1] = letters[bits >> 12 & 63];
    to[2] = letters[bits >> 6 & 63];
    to[3] = letters[bits & 63];
}

void base64_encode(struct slice bytes, char *to)
{
    const unsigned char *from = (const unsigned char *)bytes.ptr;
    unsigned char last[3] = {0};
    size_t at = 0;

    for (; bytes.len - at >= 3; at += 3, to += 4) {
        encode_three(from + at, to);
    }
    if (at < bytes.len) {
        memcpy(last, from + at, bytes.len - at);
        encode_three(last, to);
        to[3] = '=';
        if (bytes.len - at == 1) {
            to[2] = '=';
        }
    }
}
