/* SPDX-License-Identifier: MIT */
#include "core/base/base64.h"

#include <stdint.h>
#include <string.h>

// The alphabets share their first 62 letters.
static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// The value of a letter; 64 for any other byte.
static uint32_t base64_value(char letter, const char *alphabet)
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
    return letter == alphabet[62] ? 62 : letter == alphabet[63] ? 63 : 64;
}

// Decodes `count` letters, at most four, to one byte less. False if a letter is invalid, or the
// unused bits are not 0.
static bool base64_decode_group(const char *text, size_t count, const char *alphabet, char *to)
{
    size_t missing = 4 - count;
    uint32_t bits = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t value = base64_value(text[i], alphabet);

        if (value == 64) {
            return false;
        }
        bits = bits << 6 | value;
    }
    bits <<= 6 * missing;
    if (bits & ((1u << (8 * missing)) - 1)) {
        return false;
    }
    for (size_t i = 0; i + 1 < count; i++) {
        to[i] = (char)(bits >> (16 - 8 * i) & 0xff);
    }
    return true;
}

bool base64_decode(struct slice text, char *to, size_t *len)
{
    size_t letters_left = text.len;

    *len = 0;
    if (text.len % 4 != 0) {
        return false;
    }
    for (size_t i = 0; i < 2 && letters_left > 0 && text.ptr[letters_left - 1] == '='; i++) {
        letters_left--;
    }
    for (size_t at = 0; at < letters_left; at += 4) {
        size_t count = letters_left - at < 4 ? letters_left - at : 4;

        if (!base64_decode_group(text.ptr + at, count, letters, to + *len)) {
            return false;
        }
        *len += count - 1;
    }
    return true;
}

// Three bytes become four letters, the last one or two bytes one letter more than there are bytes.
// Returns the end.
static char *base64_encode_with(struct slice bytes, const char *alphabet, char *to)
{
    for (size_t at = 0; at < bytes.len; at += 3) {
        size_t count = bytes.len - at < 3 ? bytes.len - at : 3;
        unsigned char group[3] = {0};
        uint32_t bits;

        memcpy(group, bytes.ptr + at, count);
        bits = (uint32_t)group[0] << 16 | (uint32_t)group[1] << 8 | group[2];
        for (size_t i = 0; i <= count; i++) {
            *to++ = alphabet[bits >> (18 - 6 * i) & 63];
        }
    }
    return to;
}

void base64_encode(struct slice bytes, char *to)
{
    char *end = base64_encode_with(bytes, letters, to);

    memset(end, '=', (size_t)(to + base64_encoded_len(bytes.len) - end));
}

void base64url_encode(struct slice bytes, char *to)
{
    (void)base64_encode_with(bytes, url_letters, to);
}

bool base64url_decode(struct slice text, char *to, size_t size)
{
    if (text.len != BASE64URL_LEN(size)) {
        return false;
    }
    for (size_t at = 0; at < text.len; at += 4) {
        size_t count = text.len - at < 4 ? text.len - at : 4;

        if (!base64_decode_group(text.ptr + at, count, url_letters, to + at / 4 * 3)) {
            return false;
        }
    }
    return true;
}
