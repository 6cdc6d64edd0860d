/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_OUTPUT_H
#define TANDEM_PROTO_COMMON_OUTPUT_H

// What is to be sent to one peer, in order: bytes that were copied in, and references to blobs, so
// that a large body is sent without being copied. A front-end appends, the host takes pieces off
// the front as the peer accepts them. Memory follows what is pending: a span is begun where what
// comes next does not fit into the one before, and spans come from a slab, which gives what nothing
// is in any more back to the system.
//
// Appending can fail for memory. The output then remembers it, drops what follows and owns up in
// output_failed(): the host closes such a connection, since a reply with a hole is worse than none.

#include "core/base/blob.h"
#include "core/base/slab.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Gates that are told apart. A store writes what comes while it writes in one go, so that output
// waits for one of two positions; should there be more, bytes wait for the last one.
#define OUTPUT_GATES 2

// A span holds up to this many bytes; no single reservation may be longer.
#define OUTPUT_CHUNK 4000

// A body in a blob is copied up to so many bytes, so that small ones are put together: a reference
// to each would keep more memory than its bytes need, and be a piece of its own to send.
#define OUTPUT_COPIED_MAX 2048

struct output_span;

// From one byte on, what is pending leaves only when the store has reached a position.
struct output_gate {
    uint64_t position; // 0: there is none
    size_t before;     // bytes that leave before it
};

// Where the spans of all connections of one loop come from.
struct output_pool {
    struct output_span *free; /* private: some, for the next replies */
    size_t kept;              /* private: how many */
    bool begun;               /* private: the slab is */
    struct slab slab;         /* private */
    uint64_t reached;         // the position that the store has reached; set by the host
};

#define OUTPUT_SENT_MAX (UINT64_MAX >> 2)

struct output {
    struct output_pool *pool;
    struct output_span *head;               /* private */
    struct output_span *tail;               /* private */
    size_t pending;                         /* private */
    struct output_gate gates[OUTPUT_GATES]; /* private: in order */
    // The host's: bytes that have left so far. With the flags it is one word: an idle connection is
    // to be small.
    uint64_t sent : 62;
    bool failed : 1;  /* private */
    bool stalled : 1; // the host's: the peer takes no more at present
};

// A zeroed pool is ready to use. This frees what it keeps; no output may have anything of it.
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

// Appends a body. Where it is in a blob and longer than OUTPUT_COPIED_MAX, that is referred to,
// else its bytes are copied; `blob` may be NULL.
void output_body(struct output *out, struct slice bytes, struct blob *blob);

// Moves all that is pending in `more`, which has the same pool, to the end of `out`. Where a part
// of it waits for a position, all of it does.
void output_append(struct output *out, struct output *more);

// What is appended from now on leaves only when the store has reached that position (0, or one
// that has been reached: at once, but in order).
void output_hold(struct output *out, uint64_t position);

// The same as output_reserve(), of at most OUTPUT_CHUNK less OUTPUT_DELIVERY bytes, where what is
// appended next tells the peer that it holds that job. As long as none of it has left,
// output_undelivered() says so. Where it tells of several jobs, this is called for each of
// them before, and `len` has room for the marks of those that follow, OUTPUT_DELIVERY bytes each.
#define OUTPUT_DELIVERY ((size_t)16)
char *output_deliver(struct output *out, size_t len, uint64_t job_id);

// Calls `tell` with each job whose delivery has not begun to leave. What a blob that left in part
// stands behind has left. The output must not change meanwhile.
typedef void (*output_undelivered_fn)(void *context, uint64_t job_id);
void output_undelivered(const struct output *out, output_undelivered_fn tell, void *context);

// Whether the delivery of that job has not begun to leave; false, too, where very many others stand
// before it. In a bounded time.
bool output_is_undelivered(const struct output *out, uint64_t job_id);

// Bytes that have not left yet.
size_t output_pending(const struct output *out);

// What is kept for them: of a blob that has left in part, all of it still is.
size_t output_kept(const struct output *out);

// Those of them that may leave now.
size_t output_sendable(const struct output *out);

bool output_failed(const struct output *out);

// What belongs here could not be made, for want of memory.
void output_fail(struct output *out);

// The first spans of what may leave, at most `max`, in `spans`; returns how many. Valid until the
// next call that changes the output.
size_t output_peek(const struct output *out, struct slice *spans, size_t max);

// Says that the first `len` bytes have left.
void output_consume(struct output *out, size_t len);

#endif
