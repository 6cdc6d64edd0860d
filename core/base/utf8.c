/* SPDX-License-Identifier: MIT */
#include "core/base/utf8.h"

static bool utf8_byte_in(unsigned char byte, unsigned low, unsigned high)
{
    return byte >= low && byte <= high;
}

// RFC 3629, section 4. The second byte shows overlong sequences, surrogates and values that are too
// high.
size_t utf8_sequence(const unsigned char *at, size_t left)
{
    unsigned char first = at[0];
    size_t len = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

    if (len == 1) {
        return 1;
    }
    if (!utf8_byte_in(first, 0xc2, 0xf4) || left < len ||
        !utf8_byte_in(at[1],
                      first == 0xe0   ? 0xa0
                      : first == 0xf0 ? 0x90
                                      : 0x80,
                      first == 0xed   ? 0x9f
                      : first == 0xf4 ? 0x8f
                                      : 0xbf)) {
        return 0;
    }
    for (size_t i = 2; i < len; i++) {
        if (!utf8_byte_in(at[i], 0x80, 0xbf)) {
            return 0;
        }
    }
    return len;
}

bool utf8_valid(struct slice text)
{
    size_t len;

    for (size_t at = 0; at < text.len; at += len) {
        len = utf8_sequence((const unsigned char *)text.ptr + at, text.len - at);
        if (len == 0) {
            return false;
        }
    }
    return true;
}
