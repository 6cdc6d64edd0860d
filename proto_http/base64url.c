/* SPDX-License-Identifier: MIT */
#include "proto_http/base64url.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void base64url_write(const unsigned char *bytes, size_t size, char *to)
{
    unsigned bits = 0, count = 0;

    for (size_t i = 0; i < size; i++) {
        bits = bits << 8 | bytes[i];
        for (count += 8; count >= 6; count -= 6) {
            *to++ = digits[bits >> (count - 6) & 63];
        }
    }
    if (count > 0) {
        *to = digits[bits << (6 - count) & 63];
    }
}

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

bool base64url_read(struct slice text, unsigned char *bytes, size_t size)
{
    unsigned bits = 0, count = 0;
    size_t at = 0;

    if (text.len != BASE64URL_LEN(size)) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        int value = value_of(text.ptr[i]);

        if (value < 0) {
            return false;
        }
        bits = bits << 6 | (unsigned)value;
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes[at++] = bits >> count & 255;
        }
    }
    return (bits & ((1u << count) - 1)) == 0;
}
