/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_HTTP1_CHUNK_H
#define TANDEM_PROTO_COMMON_HTTP1_CHUNK_H

// The framing of a body that is sent in chunks, checked to the byte: a size in hexadecimal digits,
// CR LF, that many bytes, CR LF, and so on; a size of 0 and an empty line end it. No extensions and
// no trailers: nobody needs them here, and parsers differ about them.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum web_chunk_state {
    WEB_CHUNK_SIZE,    // the first digit of a size
    WEB_CHUNK_DIGITS,  // more of them, or CR
    WEB_CHUNK_SIZE_LF, // LF behind it
    WEB_CHUNK_DATA,
    WEB_CHUNK_DATA_CR, // CR behind the data
    WEB_CHUNK_DATA_LF,
    WEB_CHUNK_LAST_CR, // the empty line behind the last chunk
    WEB_CHUNK_LAST_LF,
    WEB_CHUNK_END
};

// Where a body stands; all zero at first.
struct web_chunks {
    uint8_t state;  // enum web_chunk_state
    uint8_t digits; // of the size that is being read
    uint64_t left;  // of the chunk that has begun, or its size so far
};

enum web_chunk_verdict {
    WEB_CHUNK_MORE,      // all input is used up
    WEB_CHUNK_DATA_NEXT, // the input begins with `left` bytes of data, or some of them
    WEB_CHUNK_DONE,
    WEB_CHUNK_BAD
};

// Takes framing off the input up to data that is to be kept. Data is taken by the caller, who says
// how much with web_chunk_taken().
enum web_chunk_verdict web_chunk_next(struct web_chunks *chunks, struct slice *input);
void web_chunk_taken(struct web_chunks *chunks, uint64_t len);

#endif
