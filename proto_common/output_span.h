/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_OUTPUT_SPAN_H
#define TANDEM_PROTO_COMMON_OUTPUT_SPAN_H

// The memory of outputs: spans of bytes, with references to blobs between them, and the pool of
// spans. Only output.c uses it.
//
// The bytes of a span are between `start` and `end`. Marks of blobs grow from the end of the room
// towards the bytes, and the marks of blobs that have not been sent are between `limit` and
// `blobs`; the mark of the first blob is the last one. So a blob costs one mark, and many blobs,
// with the bytes between them, share a span. Before the first blob, there may be marks of jobs,
// whose deliveries begin at certain bytes. A span that is not in the pool belongs to one output.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

#include "proto_common/output.h"

#include <stdbool.h>
#include <stddef.h>

// So many that replies rarely need the slab, and so few that they occupy little of it.
enum { SPAN_POOL_KEEP = 16 };

// The blob comes before the byte at `at`.
struct output_mark {
    struct blob *blob;
    size_t at;
};

// The delivery of the job begins at the byte at `at`.
struct output_delivery {
    uint64_t job_id;
    size_t at;
};

struct output_span {
    struct output_span *next;
    size_t start;     // of the bytes that have not been sent
    size_t end;       // of the bytes
    size_t limit;     // of the room for bytes: the marks begin here
    size_t blobs;     // the marks below this place are of blobs that have not been sent
    size_t blob_sent; // sent bytes of the first of these blobs
    size_t jobs;      // the beginning of the marks of jobs, which are at the end of the room
    union {
        char bytes[OUTPUT_CHUNK];
        struct output_mark room[OUTPUT_CHUNK / sizeof(struct output_mark)];
        struct output_delivery deliveries[OUTPUT_CHUNK / sizeof(struct output_delivery)];
    };
};

_Static_assert(OUTPUT_CHUNK % sizeof(struct output_mark) == 0, "marks end where the room does");
_Static_assert(sizeof(struct output_delivery) == sizeof(struct output_mark),
               "marks of both kinds share a room");
_Static_assert(sizeof(struct output_delivery) == OUTPUT_DELIVERY, "its size is known");
_Static_assert(sizeof(struct output_span) <= SLAB_MAX, "spans come from a slab");

// Gets a span from the slab of the pool (NULL: no memory), and returns it.
struct output_span *span_from_slab(struct output_pool *pool) MUST_USE;
void span_to_slab(struct output_pool *pool, struct output_span *span);

// Gets an empty span; NULL: no memory.
static inline struct output_span *span_new(struct output_pool *pool)
{
    struct output_span *span = pool->free;

    if (span) {
        pool->free = span->next;
        pool->kept--;
    } else {
        span = span_from_slab(pool);
        if (!span) {
            return NULL;
        }
    }
    span->next = NULL;
    span->start = 0;
    span->end = 0;
    span->limit = OUTPUT_CHUNK;
    span->blobs = OUTPUT_CHUNK;
    span->blob_sent = 0;
    span->jobs = OUTPUT_CHUNK;
    return span;
}

// The mark of a job that begins at that place.
static inline struct output_delivery *span_delivery(struct output_span *span, size_t place)
{
    return &span->deliveries[place / sizeof(struct output_delivery)];
}

// Whether the span has never had a blob.
static inline bool span_takes_deliveries(const struct output_span *span)
{
    return span->limit == span->jobs;
}

// The next bytes deliver the job. The span must take deliveries and have room for the mark.
static inline void span_deliver(struct output_span *span, uint64_t job_id)
{
    size_t place = span->limit - sizeof(struct output_delivery);

    *span_delivery(span, place) = (struct output_delivery){job_id, span->end};
    span->limit = place;
    span->blobs = place;
    span->jobs = place;
}

// The mark that ends at that place.
static inline struct output_mark *span_mark(struct output_span *span, size_t end)
{
    return &span->room[end / sizeof(struct output_mark) - 1];
}

// Whether the span has a blob that has not been sent.
static inline bool span_has_blobs(const struct output_span *span)
{
    return span->limit < span->blobs;
}

// The first blob has been sent.
static inline void span_drop_blob(struct output_span *span)
{
    blob_unref(span_mark(span, span->blobs)->blob);
    span->blobs -= sizeof(struct output_mark);
    span->blob_sent = 0;
}

// Returns an empty span.
static inline void span_give_back(struct output_pool *pool, struct output_span *span)
{
    if (pool->kept >= SPAN_POOL_KEEP) {
        span_to_slab(pool, span);
        return;
    }
    span->next = pool->free;
    pool->free = span;
    pool->kept++;
}

#endif
