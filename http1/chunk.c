/* SPDX-License-Identifier: MIT */
#include "http1/chunk.h"

#include "core/base/macros.h"

#include "http1/request_target.h"

// More digits than any accepted size has.
#define DIGITS_MOST 15

static bool take_digit(struct http1_chunks *chunks, char c)
{
    int value = http1_hex_value(c);

    if (value < 0 || chunks->digits == DIGITS_MOST) {
        return false;
    }
    chunks->left = chunks->left * 16 + (uint64_t)value;
    chunks->digits++;
    chunks->state = HTTP1_CHUNK_DIGITS;
    return true;
}

static bool expect(struct http1_chunks *chunks, char c, char wanted, enum http1_chunk_state next)
{
    chunks->state = (uint8_t)next;
    return c == wanted;
}

// Consumes one byte of framing. False if it is invalid.
static bool take_byte(struct http1_chunks *chunks, char c)
{
    switch ((enum http1_chunk_state)chunks->state) {
    case HTTP1_CHUNK_SIZE:
        chunks->left = 0;
        chunks->digits = 0;
        return take_digit(chunks, c);
    case HTTP1_CHUNK_DIGITS:
        return c == '\r' ? expect(chunks, c, '\r', HTTP1_CHUNK_SIZE_LF) : take_digit(chunks, c);
    case HTTP1_CHUNK_SIZE_LF:
        return expect(chunks, c, '\n', chunks->left ? HTTP1_CHUNK_DATA : HTTP1_CHUNK_LAST_CR);
    case HTTP1_CHUNK_DATA_CR:
        return expect(chunks, c, '\r', HTTP1_CHUNK_DATA_LF);
    case HTTP1_CHUNK_DATA_LF:
        return expect(chunks, c, '\n', HTTP1_CHUNK_SIZE);
    case HTTP1_CHUNK_LAST_CR:
        return expect(chunks, c, '\r', HTTP1_CHUNK_LAST_LF);
    case HTTP1_CHUNK_LAST_LF:
        return expect(chunks, c, '\n', HTTP1_CHUNK_END);
    case HTTP1_CHUNK_DATA:
    case HTTP1_CHUNK_END:
        break;
    }
    UNREACHABLE();
}

enum http1_chunk_result http1_chunk_next(struct http1_chunks *chunks, struct slice *input)
{
    while (chunks->state != HTTP1_CHUNK_END) {
        if (input->len == 0) {
            return HTTP1_CHUNK_MORE;
        }
        if (chunks->state == HTTP1_CHUNK_DATA) {
            return HTTP1_CHUNK_DATA_NEXT;
        }
        if (!take_byte(chunks, *input->ptr)) {
            return HTTP1_CHUNK_BAD;
        }
        *input = slice_from(*input, 1);
    }
    return HTTP1_CHUNK_DONE;
}

void http1_chunk_taken(struct http1_chunks *chunks, uint64_t len)
{
    chunks->left -= len;
    if (chunks->left == 0) {
        chunks->state = HTTP1_CHUNK_DATA_CR;
    }
}
