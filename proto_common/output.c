/* SPDX-License-Identifier: MIT */
#include "proto_common/output.h"

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// An output is a list of spans of bytes, with references to blobs between them.
//
// The bytes of a span are between `start` and `end`. Marks of blobs grow from the end of the room
// towards the bytes, and the marks of blobs that have not been sent are between `limit` and
// `blobs`; the mark of the first blob is the last one. So a blob costs one mark, and many blobs,
// with the bytes between them, share a span. Before the first blob, there may be marks of jobs,
// whose deliveries begin at certain bytes. A span that is not in the pool belongs to one output.

// The number of empty spans that a pool keeps: enough that replies rarely need the slab.
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

// APART: the pool usually has a span and room for one, and the common paths save fewer registers.
static struct output_span *span_from_slab(struct output_pool *pool)
{
    if (!pool->begun) {
        slab_init(&pool->slab);
        pool->slab.kind = MEMORY_OUTPUT;
        pool->begun = true;
    }
    return slab_alloc(&pool->slab, sizeof(struct output_span));
}

static void span_to_slab(struct output_pool *pool, struct output_span *span)
{
    slab_free(&pool->slab, span, sizeof *span);
}

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

void output_pool_clear(struct output_pool *pool)
{
    while (pool->free) {
        struct output_span *span = pool->free;

        pool->free = span->next;
        span_to_slab(pool, span);
    }
    pool->kept = 0;
    if (pool->begun) {
        slab_clear(&pool->slab);
        pool->begun = false;
    }
}

void output_init(struct output *out, struct output_pool *pool)
{
    *out = (struct output){.pool = pool};
}

void output_clear(struct output *out)
{
    while (out->head) {
        struct output_span *span = out->head;

        out->head = span->next;
        while (span_has_blobs(span)) {
            span_drop_blob(span);
        }
        span_give_back(out->pool, span);
    }
    out->tail = NULL;
    out->pending = 0;
    memset(out->gates, 0, sizeof out->gates);
}

// Appends an empty span. NULL: no memory, and the output has failed.
static struct output_span *output_extend(struct output *out)
{
    struct output_span *span = span_new(out->pool);

    if (!span) {
        out->failed = true;
        return NULL;
    }
    if (out->tail) {
        out->tail->next = span;
    } else {
        out->head = span;
    }
    out->tail = span;
    return span;
}

char *output_reserve(struct output *out, size_t len)
{
    struct output_span *span = out->tail;

    ENSURE(len <= OUTPUT_CHUNK);
    if (out->failed) {
        return NULL;
    }
    if (!span || len > span->limit - span->end) {
        span = output_extend(out);
        if (!span) {
            return NULL;
        }
    }
    return span->bytes + span->end;
}

void output_commit(struct output *out, size_t len)
{
    if (out->failed) {
        return;
    }
    ENSURE(out->tail && len <= out->tail->limit - out->tail->end);
    out->tail->end += len;
    out->pending += len;
}

char *output_deliver(struct output *out, size_t len, uint64_t job_id)
{
    const size_t size = sizeof(struct output_delivery);
    struct output_span *span = out->tail;

    ENSURE(len <= OUTPUT_CHUNK - size);
    if (out->failed) {
        return NULL;
    }
    if (!span || len + size > span->limit - span->end || !span_takes_deliveries(span)) {
        span = output_extend(out);
        if (!span) {
            return NULL;
        }
    }
    span_deliver(span, job_id);
    return span->bytes + span->end;
}

void output_undelivered(const struct output *out, output_undelivered_fn tell, void *context)
{
    for (struct output_span *span = out->head; span; span = span->next) {
        for (size_t place = OUTPUT_CHUNK; place > span->jobs;) {
            const struct output_delivery *delivery;

            place -= sizeof *delivery;
            delivery = span_delivery(span, place);
            if (delivery->at >= span->start) {
                tell(context, delivery->job_id);
            }
        }
    }
}

// The maximum number of spans that are searched. The time to run of a job rarely ends before its
// delivery, but if it does, it may end for all jobs that wait with it.
enum { UNDELIVERED_SPANS_MAX = 32 };

bool output_is_undelivered(const struct output *out, uint64_t job_id)
{
    struct output_span *span = out->head;

    for (int i = 0; span && i < UNDELIVERED_SPANS_MAX; i++, span = span->next) {
        for (size_t place = OUTPUT_CHUNK; place > span->jobs;) {
            const struct output_delivery *delivery;

            place -= sizeof *delivery;
            delivery = span_delivery(span, place);
            if (delivery->job_id == job_id && delivery->at >= span->start) {
                return true;
            }
        }
    }
    return false;
}

// Appends the bytes that do not fit into the last span.
static void output_write_on(struct output *out, struct slice bytes)
{
    while (bytes.len > 0) {
        struct output_span *span = out->tail;
        size_t len = bytes.len;

        if (!span || span->end == span->limit) {
            span = output_extend(out);
            if (!span) {
                return;
            }
        }
        if (len > span->limit - span->end) {
            len = span->limit - span->end;
        }
        memcpy(span->bytes + span->end, bytes.ptr, len);
        span->end += len;
        out->pending += len;
        bytes = slice_from(bytes, len);
    }
}

void output_write(struct output *out, struct slice bytes)
{
    struct output_span *span = out->tail;

    if (bytes.len == 0 || out->failed) {
        return;
    }
    if (!span || bytes.len > span->limit - span->end) {
        output_write_on(out, bytes);
        return;
    }
    memcpy(span->bytes + span->end, bytes.ptr, bytes.len);
    span->end += bytes.len;
    out->pending += bytes.len;
}

void output_blob(struct output *out, struct blob *blob)
{
    struct output_span *span = out->tail;

    if (blob->len == 0 || out->failed) {
        return;
    }
    if (!span || span->limit - span->end < sizeof(struct output_mark)) {
        span = output_extend(out);
        if (!span) {
            return;
        }
    }
    *span_mark(span, span->limit) = (struct output_mark){blob_ref(blob), span->end};
    span->limit -= sizeof(struct output_mark);
    out->pending += blob->len;
}

void output_body(struct output *out, struct slice bytes, struct blob *blob)
{
    if (blob && bytes.len > OUTPUT_COPIED_MAX) {
        output_blob(out, blob);
    } else {
        output_write(out, bytes);
    }
}

// Whether the store has reached the position, or there is none to wait for.
static bool passed(const struct output *out, const struct output_gate *gate)
{
    return gate->position <= out->pool->reached;
}

void output_hold(struct output *out, uint64_t position)
{
    struct output_gate *gate = out->gates;

    if (position <= out->pool->reached) {
        return;
    }
    if (passed(out, &gate[0])) {
        gate[0] = gate[1];
        gate[1] = (struct output_gate){0};
    }
    if (passed(out, &gate[0])) {
        gate[0] = (struct output_gate){position, out->pending};
        return;
    }
    // Joins the last gate if no bytes are in between, or if there is no further gate.
    gate += gate[1].position > 0;
    if (position <= gate->position) {
        return;
    }
    if (gate == out->gates && gate->before < out->pending) {
        gate[1] = (struct output_gate){position, out->pending};
    } else {
        gate->position = position;
    }
}

// Moves the marks and references of a span of which nothing has been sent to another one, which has
// room for them. Returns the bytes of the blobs.
static size_t move_marks(struct output_span *to, struct output_span *from)
{
    size_t len = 0;

    for (; span_has_blobs(from); from->blobs -= sizeof(struct output_mark)) {
        const struct output_mark *mark = span_mark(from, from->blobs);

        *span_mark(to, to->limit) =
            (struct output_mark){mark->blob, mark->at - from->start + to->end};
        to->limit -= sizeof(struct output_mark);
        len += mark->blob->len;
    }
    return len;
}

// Moves the first span of `more` into the last one of `out` if all of it fits; otherwise each of
// many short outputs would keep a span.
static void output_take_in(struct output *out, struct output *more)
{
    struct output_span *tail = out->tail;
    struct output_span *span = more->head;
    size_t len = span ? span->end - span->start : 0;
    size_t moved;

    if (!span || !tail || span->blob_sent > 0 || span->jobs < OUTPUT_CHUNK ||
        len + (span->blobs - span->limit) > tail->limit - tail->end) {
        return;
    }
    moved = move_marks(tail, span) + len;
    memcpy(tail->bytes + tail->end, span->bytes + span->start, len);
    tail->end += len;
    out->pending += moved;
    more->pending -= moved;
    more->head = span->next;
    span_give_back(more->pool, span);
}

void output_append(struct output *out, struct output *more)
{
    for (size_t i = 0; i < OUTPUT_GATES; i++) {
        output_hold(out, more->gates[i].position);
    }
    out->failed = out->failed || more->failed;
    output_take_in(out, more);
    if (more->head) {
        if (out->tail) {
            out->tail->next = more->head;
        } else {
            out->head = more->head;
        }
        out->tail = more->tail;
        out->pending += more->pending;
    }
    output_init(more, more->pool);
}

size_t output_pending(const struct output *out)
{
    return out->pending;
}

size_t output_kept(const struct output *out)
{
    return out->pending + (out->head ? out->head->blob_sent : 0);
}

size_t output_sendable(const struct output *out)
{
    for (size_t i = 0; i < OUTPUT_GATES; i++) {
        if (!passed(out, &out->gates[i])) {
            return out->gates[i].before;
        }
    }
    return out->pending;
}

void output_fail(struct output *out)
{
    out->failed = true;
}

bool output_failed(const struct output *out)
{
    return out->failed;
}

static struct slice span_cut(struct slice bytes, size_t len)
{
    return slice_of(bytes.ptr, bytes.len < len ? bytes.len : len);
}

// The next piece of a span, after `start` and before the blobs whose marks are below `blobs`: a
// blob, or the bytes before the next one; empty at the end.
static struct slice span_piece(struct output_span *span, size_t blobs, size_t start, bool *is_blob)
{
    const struct output_mark *mark = span->limit < blobs ? span_mark(span, blobs) : NULL;

    *is_blob = mark && mark->at == start;
    if (*is_blob) {
        return slice_from(blob_slice(mark->blob), blobs == span->blobs ? span->blob_sent : 0);
    }
    return slice_of(span->bytes + start, (mark ? mark->at : span->end) - start);
}

// The pieces of a span with blobs, at most `max` pieces and `left` bytes. Returns their number.
// Rarely called, and in this file, so that the compiler knows which registers it does not change:
// in another file, it makes a short put 1.5 % slower.
static APART size_t span_peek(struct output_span *span, struct slice *pieces, size_t max,
                              size_t left)
{
    size_t blobs = span->blobs;
    size_t start = span->start;
    size_t count = 0;

    while (count < max && left > 0) {
        bool is_blob;
        struct slice piece = span_piece(span, blobs, start, &is_blob);

        if (piece.len == 0) {
            break;
        }
        blobs -= is_blob ? sizeof(struct output_mark) : 0;
        start += is_blob ? 0 : piece.len;
        pieces[count] = span_cut(piece, left);
        left -= pieces[count++].len;
    }
    return count;
}

size_t output_peek(const struct output *out, struct slice *spans, size_t max)
{
    size_t left = output_sendable(out);
    size_t count = 0;

    for (struct output_span *span = out->head; span && left && count < max; span = span->next) {
        if (span_has_blobs(span)) {
            for (size_t n = span_peek(span, spans + count, max - count, left); n > 0; n--) {
                left -= spans[count++].len;
            }
        } else {
            spans[count] =
                span_cut(slice_of(span->bytes + span->start, span->end - span->start), left);
            left -= spans[count++].len;
        }
    }
    return count;
}

// Takes up to `len` bytes off the front of a span with blobs. Returns their number. APART is worth
// 2.3 % of a reserve and a delete, by tests/budget.
static APART size_t span_consume_pieces(struct output_span *span, size_t len)
{
    size_t taken = 0;

    while (taken < len) {
        bool is_blob;
        struct slice piece = span_piece(span, span->blobs, span->start, &is_blob);
        size_t part = span_cut(piece, len - taken).len;

        if (part == 0) {
            break;
        }
        taken += part;
        if (!is_blob) {
            span->start += part;
        } else if (part < piece.len) {
            span->blob_sent += part;
        } else {
            span_drop_blob(span);
        }
    }
    return taken;
}

// Takes up to `len` bytes off the front of a span. Returns their number.
static size_t span_consume(struct output_span *span, size_t len)
{
    size_t there = span->end - span->start;

    if (span_has_blobs(span)) {
        return span_consume_pieces(span, len);
    }
    len = len < there ? len : there;
    span->start += len;
    return len;
}

// APART, and the usual case below, are worth 1.8 % of a hand-over, by tests/budget.
static APART void output_consume_part(struct output *out, size_t len)
{
    out->pending -= len;
    for (size_t i = 0; i < OUTPUT_GATES; i++) {
        out->gates[i].before -= len < out->gates[i].before ? len : out->gates[i].before;
    }
    while (out->head) {
        struct output_span *span = out->head;

        len -= span_consume(span, len);
        if (span->start < span->end || span_has_blobs(span)) {
            break;
        }
        out->head = span->next;
        span_give_back(out->pool, span);
    }
    ENSURE(len == 0);
    if (!out->head) {
        out->tail = NULL;
    }
}

_Static_assert(OUTPUT_GATES == 2, "both gates stand at the end");

// Usually all output is in one span and is sent at once.
void output_consume(struct output *out, size_t len)
{
    struct output_span *span = out->head;

    ENSURE(len <= output_sendable(out));
    if (len < out->pending || !span || span != out->tail || span_has_blobs(span)) {
        output_consume_part(out, len);
        return;
    }
    out->pending = 0;
    out->gates[0].before = 0;
    out->gates[1].before = 0;
    out->head = NULL;
    out->tail = NULL;
    span_give_back(out->pool, span);
}
