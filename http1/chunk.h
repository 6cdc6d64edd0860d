/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_CHUNK_H
#define TANDEM_HTTP1_CHUNK_H

// Parses the framing of a chunked body strictly: a size in hexadecimal digits, CRLF, the data,
// CRLF, repeated; a size of 0 and an empty line end it. Extensions and trailers are refused: no
// client needs them here, and parsers differ about them.
//
// http-parser is not used as it is for the head: it accepts extensions, trailers, spaces after a
// size, any two bytes as the CRLF after data, and a lone LF at the end. Refusing those needs a full
// parse anyway: a chunk of 64 bytes takes 179 instructions here, and http-parser would add 233.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum http1_chunk_state {
    HTTP1_CHUNK_SIZE,    // the first digit of a size
    HTTP1_CHUNK_DIGITS,  // more of them, or CR
    HTTP1_CHUNK_SIZE_LF, // LF after the size
    HTTP1_CHUNK_DATA,
    HTTP1_CHUNK_DATA_CR, // CR after the data
    HTTP1_CHUNK_DATA_LF,
    HTTP1_CHUNK_LAST_CR, // the empty line after the last chunk
    HTTP1_CHUNK_LAST_LF,
    HTTP1_CHUNK_END
};

// The state of a body. Initialized to zero.
struct http1_chunks {
    uint8_t state;  // enum http1_chunk_state
    uint8_t digits; // of the size that is being read
    uint64_t left;  // data bytes of the chunk still to come, or its size so far
};

enum http1_chunk_result {
    HTTP1_CHUNK_MORE,      // all input is consumed
    HTTP1_CHUNK_DATA_NEXT, // the input begins with `left` bytes of data, or some of them
    HTTP1_CHUNK_DONE,
    HTTP1_CHUNK_BAD
};

// Consumes framing up to the next data. The caller consumes the data, and reports the number of
// bytes with http1_chunk_taken().
enum http1_chunk_result http1_chunk_next(struct http1_chunks *chunks, struct slice *input);
void http1_chunk_taken(struct http1_chunks *chunks, uint64_t len);

#endif
