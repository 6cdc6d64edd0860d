/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_CHUNK_H
#define TANDEM_HTTP1_CHUNK_H

// The framing of a body that is sent in chunks, checked to the byte: a size in hexadecimal digits,
// CR LF, that many bytes, CR LF, and so on; a size of 0 and an empty line end it. No extensions and
// no trailers: nobody needs them here, and parsers differ about them.
//
// http-parser does not do this, as it does the head: it takes extensions, trailers, blanks behind a
// size, any two bytes for the CR LF behind data, and a lone LF at the end. A check that refuses
// those has to follow the framing byte by byte, and has then read it; a chunk of 64 bytes takes
// 179 instructions here, and http-parser 233 more behind it.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum http1_chunk_state {
    HTTP1_CHUNK_SIZE,    // the first digit of a size
    HTTP1_CHUNK_DIGITS,  // more of them, or CR
    HTTP1_CHUNK_SIZE_LF, // LF behind it
    HTTP1_CHUNK_DATA,
    HTTP1_CHUNK_DATA_CR, // CR behind the data
    HTTP1_CHUNK_DATA_LF,
    HTTP1_CHUNK_LAST_CR, // the empty line behind the last chunk
    HTTP1_CHUNK_LAST_LF,
    HTTP1_CHUNK_END
};

// Where a body stands; all zero at first.
struct http1_chunks {
    uint8_t state;  // enum http1_chunk_state
    uint8_t digits; // of the size that is being read
    uint64_t left;  // of the chunk that has begun, or its size so far
};

enum http1_chunk_verdict {
    HTTP1_CHUNK_MORE,      // all input is used up
    HTTP1_CHUNK_DATA_NEXT, // the input begins with `left` bytes of data, or some of them
    HTTP1_CHUNK_DONE,
    HTTP1_CHUNK_BAD
};

// Takes framing off the input up to data that is to be kept. Data is taken by the caller, who says
// how much with http1_chunk_taken().
enum http1_chunk_verdict http1_chunk_next(struct http1_chunks *chunks, struct slice *input);
void http1_chunk_taken(struct http1_chunks *chunks, uint64_t len);

#endif
