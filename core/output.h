/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_OUTPUT_H
#define TANDEM_CORE_OUTPUT_H

// What is to be sent to one peer: a list of spans in order, each either bytes that were copied in
// or a reference to a blob, so that a large body is sent without being copied. A front-end appends,
// the host takes spans off the front as the peer accepts them. Both sides of that border use this,
// which is why it lives in the core; it knows no socket.
//
// Appending can fail for memory. The output then remembers it, drops what follows and owns up in
// output_failed(): the host closes such a connection, since a reply with a hole is worse than none.

#include "core/blob.h"
#include "core/slice.h"

#include <stdbool.h>
#include <stddef.h>

// A span of copied bytes holds up to this many; no single reservation may be longer.
#define OUTPUT_CHUNK 4000

struct output_span;

// Empty chunks kept for the next reply, shared by all connections of one loop.
struct output_pool {
    struct output_span *free; /* private */
    size_t kept;              /* private */
};

struct output {
    struct output_pool *pool;
    struct output_span *head; /* private */
    struct output_span *tail; /* private */
    size_t pending;           /* private */
    bool failed;              /* private */
    bool stalled;             // the host's: the peer takes no more at present
};

// A zeroed pool is ready to use. This frees what it keeps.
void output_pool_clear(struct output_pool *pool);

// Starts an empty output whose chunks come from `pool`, which must outlive it.
void output_init(struct output *out, struct output_pool *pool);

// Drops everything that is pending.
void output_clear(struct output *out);

// Appends a copy of `bytes`.
void output_write(struct output *out, struct slice bytes);

// Room for `len` (at most OUTPUT_CHUNK) contiguous bytes at the end, NULL where the output has
// failed. They count only once output_commit() says how many were written.
char *output_reserve(struct output *out, size_t len);
void output_commit(struct output *out, size_t len);

// Appends the whole of `blob` and keeps a reference to it until it has left.
void output_blob(struct output *out, struct blob *blob);

// Moves all that is pending in `more`, which has the same pool, to the end of `out`.
void output_append(struct output *out, struct output *more);

// Bytes that have not left yet.
size_t output_pending(const struct output *out);

bool output_failed(const struct output *out);

// The first spans, at most `max`, in `spans`; returns how many. Valid until the next call that
// changes the output.
size_t output_peek(const struct output *out, struct slice *spans, size_t max);

// Says that the first `len` bytes have left.
void output_consume(struct output *out, size_t len);

#endif
