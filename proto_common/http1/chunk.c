/* SPDX-License-Identifier: MIT */
#include "proto_common/http1/chunk.h"

#include "core/base/macros.h"

#include "proto_common/http1/hex.h"

// More are no size that anything here could have.
#define DIGITS_MOST 15

static bool take_digit(struct web_chunks *chunks, char c)
{
    int value = web_hex_value(c);

    if (value < 0 || chunks->digits == DIGITS_MOST) {
        return false;
    }
    chunks->left = chunks->left * 16 + (uint64_t)value;
    chunks->digits++;
    chunks->state = WEB_CHUNK_DIGITS;
    return true;
}

static bool expect(struct web_chunks *chunks, char c, char wanted, enum web_chunk_state next)
{
    chunks->state = (uint8_t)next;
    return c == wanted;
}

// Takes one byte of framing; false where it is not what must be there.
static bool take_byte(struct web_chunks *chunks, char c)
{
    switch ((enum web_chunk_state)chunks->state) {
    case WEB_CHUNK_SIZE:
        chunks->left = 0;
        chunks->digits = 0;
        return take_digit(chunks, c);
    case WEB_CHUNK_DIGITS:
        return c == '\r' ? expect(chunks, c, '\r', WEB_CHUNK_SIZE_LF) : take_digit(chunks, c);
    case WEB_CHUNK_SIZE_LF:
        return expect(chunks, c, '\n', chunks->left ? WEB_CHUNK_DATA : WEB_CHUNK_LAST_CR);
    case WEB_CHUNK_DATA_CR:
        return expect(chunks, c, '\r', WEB_CHUNK_DATA_LF);
    case WEB_CHUNK_DATA_LF:
        return expect(chunks, c, '\n', WEB_CHUNK_SIZE);
    case WEB_CHUNK_LAST_CR:
        return expect(chunks, c, '\r', WEB_CHUNK_LAST_LF);
    case WEB_CHUNK_LAST_LF:
        return expect(chunks, c, '\n', WEB_CHUNK_END);
    case WEB_CHUNK_DATA:
    case WEB_CHUNK_END:
        break;
    }
    UNREACHABLE();
}

enum web_chunk_verdict web_chunk_next(struct web_chunks *chunks, struct slice *input)
{
    while (chunks->state != WEB_CHUNK_END) {
        if (input->len == 0) {
            return WEB_CHUNK_MORE;
        }
        if (chunks->state == WEB_CHUNK_DATA) {
            return WEB_CHUNK_DATA_NEXT;
        }
        if (!take_byte(chunks, *input->ptr)) {
            return WEB_CHUNK_BAD;
        }
        *input = slice_from(*input, 1);
    }
    return WEB_CHUNK_DONE;
}

void web_chunk_taken(struct web_chunks *chunks, uint64_t len)
{
    chunks->left -= len;
    if (chunks->left == 0) {
        chunks->state = WEB_CHUNK_DATA_CR;
    }
}
