/* SPDX-License-Identifier: MIT */
#include "ctl/api/base64.h"

#include <stdint.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Of three bytes, or of what is left at the end.
static void add_group(struct text *to, const unsigned char *bytes, size_t count)
{
    uint32_t bits = (uint32_t)bytes[0] << 16;

    bits |= count > 1 ? (uint32_t)bytes[1] << 8 : 0;
    bits |= count > 2 ? (uint32_t)bytes[2] : 0;
    for (unsigned i = 0; i < 4; i++) {
        text_add(to, i <= count ? slice_of(&letters[bits >> (18 - 6 * i) & 63], 1) : SLICE("="));
    }
}

void base64_add(struct text *to, struct slice bytes)
{
    for (size_t at = 0; at < bytes.len; at += 3) {
        size_t left = bytes.len - at;

        add_group(to, (const unsigned char *)bytes.ptr + at, left < 3 ? left : 3);
    }
}

bool base64_read(struct text *to, struct slice from)
{
    uint32_t bits = 0;
    unsigned count = 0;

    while (from.len > 0 && from.len % 4 == 0 && from.ptr[from.len - 1] == '=') {
        from.len--;
        if (from.ptr[from.len - 1] == '=') {
            from.len--;
        }
    }
    for (size_t at = 0; at < from.len; at++) {
        const char *letter = from.ptr[at] ? strchr(letters, from.ptr[at]) : NULL;

        if (!letter) {
            return false;
        }
        bits = bits << 6 | (uint32_t)(letter - letters);
        count += 6;
        if (count >= 8) {
            count -= 8;
            text_put_char(to, (char)(bits >> count & 0xff));
        }
    }
    return from.len % 4 != 1;
}
