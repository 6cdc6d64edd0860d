/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_OUTPUT_H
#define TANDEM_PROTO_COMMON_OUTPUT_H

// The output of a connection, in order: copied bytes, and references to blobs, so that a large body
// is sent without a copy. The front-end appends to it, and the host takes pieces off the front as
// the peer accepts them. The memory follows the pending bytes: they are in spans, and a new span
// begins when the next bytes do not fit into the last one. Spans come from a slab, which returns
// unused memory to the system.
//
// If there is no memory for an append, the output drops this and all later appends, and
// output_failed() is true. The host then closes the connection, because a reply with a gap is worse
// than none.

#include "core/base/blob.h"
#include "core/base/slab.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The number of separate gates. A store writes in one go all records that arrive while it writes,
// so output waits for one of two positions; if there were more, bytes would wait for the last one.
#define OUTPUT_GATES 2

// The maximum number of bytes in a span, and of a reservation.
#define OUTPUT_CHUNK 4000

// A body in a blob of at most this many bytes is copied, so that small bodies are sent together: a
// reference to each would need more memory than its bytes, and a separate piece to send.
#define OUTPUT_COPIED_MAX 2048

struct output_span;

// Bytes from a certain one on are sent only after the store has reached a position.
struct output_gate {
    uint64_t position; // 0: no gate
    size_t before;     // bytes before it
};

// The source of the spans of all connections of a loop.
struct output_pool {
    struct output_span *free; /* private: some, for the next replies */
    size_t kept;              /* private: how many */
    bool begun;               /* private: the slab is */
    struct slab slab;         /* private */
    uint64_t reached;         // the log position that the store has reached; set by the host
};

#define OUTPUT_SENT_MAX (UINT64_MAX >> 2)

struct output {
    struct output_pool *pool;
    struct output_span *head;               /* private */
    struct output_span *tail;               /* private */
    size_t pending;                         /* private */
    struct output_gate gates[OUTPUT_GATES]; /* private: in order */
    // Set by the host: the bytes sent so far. It shares a word with the flags, because an idle
    // connection must be small.
    uint64_t sent : 62;
    bool failed : 1;  /* private */
    bool stalled : 1; // set by the host: the peer takes no output at present
};

// Frees the spans in the pool, which no output may use. A zeroed pool is ready for use.
void output_pool_clear(struct output_pool *pool);

// Begins an empty output whose spans come from `pool`, which must outlive it.
void output_init(struct output *out, struct output_pool *pool);

// Drops all pending output.
void output_clear(struct output *out);

// Appends a copy of `bytes`.
void output_write(struct output *out, struct slice bytes);

// Reserves `len` contiguous bytes, at most OUTPUT_CHUNK, at the end. NULL: the output has failed.
// The bytes count after output_commit() with the number that were written.
char *output_reserve(struct output *out, size_t len);
void output_commit(struct output *out, size_t len);

// Appends the whole blob, and holds a reference until it has been sent.
void output_blob(struct output *out, struct blob *blob);

// Appends a body. If it is in a blob and longer than OUTPUT_COPIED_MAX, the output refers to the
// blob; otherwise it copies the bytes. `blob` may be NULL.
void output_body(struct output *out, struct slice bytes, struct blob *blob);

// Moves all pending output of `more`, which has the same pool, to the end of `out`. If a part of it
// waits for a log position, all of it does.
void output_append(struct output *out, struct output *more);

// Output that is appended from now on is sent only after the store has reached that log position
// (0, or a position that is already reached: without waiting, but in order).
void output_hold(struct output *out, uint64_t position);

// As output_reserve(), for at most OUTPUT_CHUNK - OUTPUT_DELIVERY bytes, if the next bytes tell the
// peer that it holds this job. Until the first of them has been sent, output_undelivered() reports
// the job. If the bytes are about several jobs, this is called for each of them before; `len` then
// includes OUTPUT_DELIVERY bytes for the mark of each following job.
#define OUTPUT_DELIVERY ((size_t)16)
char *output_deliver(struct output *out, size_t len, uint64_t job_id);

// Calls `tell` for each job whose delivery has not begun to be sent. Bytes before a partly sent
// blob have been sent. The output must not change meanwhile.
typedef void (*output_undelivered_fn)(void *context, uint64_t job_id);
void output_undelivered(const struct output *out, output_undelivered_fn tell, void *context);

// Whether the delivery of the job has not begun to be sent. Also false if it comes after many other
// deliveries, because the time is limited.
bool output_is_undelivered(const struct output *out, uint64_t job_id);

// The number of bytes that have not been sent.
size_t output_pending(const struct output *out);

// The memory for them; a partly sent blob counts completely.
size_t output_kept(const struct output *out);

// The number of bytes that may be sent now.
size_t output_sendable(const struct output *out);

bool output_failed(const struct output *out);

// Makes the output fail, because a part of it could not be made for lack of memory.
void output_fail(struct output *out);

// Sets `spans` to the first pieces of the output that may be sent, at most `max`. Returns their
// number. They are valid until the output changes.
size_t output_peek(const struct output *out, struct slice *spans, size_t max);

// The first `len` bytes have been sent.
void output_consume(struct output *out, size_t len);

#endif
