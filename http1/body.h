/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_BODY_H
#define TANDEM_HTTP1_BODY_H

// Receives the body of a request, of a known length or in chunks. An invalid body is answered, and
// the rest of it is discarded.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

#include "http1/context.h"
#include "http1/framing.h"

// A complete body.
struct http1_body {
    struct slice bytes; // in the blob, or in the input
    struct blob *blob;  // owned by the holder of the struct; NULL if the bytes are in the input
};

enum http1_body_verdict {
    HTTP1_BODY_MORE, // all input is consumed
    HTTP1_BODY_ON,   // there may be more input
    HTTP1_BODY_COMPLETE,
    HTTP1_BODY_REFUSED // answered
};

// Begins the body of an accepted request.
void http1_body_begin(struct http1_conn *conn, const struct http1_framing *framing);

// Consumes the available part of a body of a known length, or of a chunked one, from the front of
// the input.
enum http1_body_verdict http1_body_take(struct http1_conn *conn, struct slice *input,
                                        struct http1_body *body) MUST_USE;
enum http1_body_verdict http1_chunks_take(struct http1_conn *conn, struct slice *input,
                                          struct http1_body *body) MUST_USE;

#endif
