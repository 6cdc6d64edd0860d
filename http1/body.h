/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_BODY_H
#define TANDEM_HTTP1_BODY_H

// The body of a request, of a known length or in chunks, as it comes. What is wrong with it is
// answered, and the rest of it is not wanted.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

#include "http1/context.h"
#include "http1/framing.h"

// A body that is complete.
struct http1_body {
    struct slice bytes; // in the blob, or in the input
    struct blob *blob;  // owned by whoever has the struct; NULL where the bytes are the input's
};

enum http1_body_verdict {
    HTTP1_BODY_MORE,     // the input is used up
    HTTP1_BODY_ON,       // there may be more in the input
    HTTP1_BODY_COMPLETE, // it is there
    HTTP1_BODY_REFUSED   // answered
};

// The request is taken, and has a body.
void http1_body_begin(struct http1_conn *conn, const struct http1_framing *framing);

// Takes what there is of a body of a known length, or of one in chunks, off the front of the input.
enum http1_body_verdict http1_body_take(struct http1_conn *conn, struct slice *input,
                                        struct http1_body *body) MUST_USE;
enum http1_body_verdict http1_chunks_take(struct http1_conn *conn, struct slice *input,
                                          struct http1_body *body) MUST_USE;

#endif
