/* SPDX-License-Identifier: MIT */
#include "core/output.h"

#include <stdlib.h>

// Enough that a burst of replies allocates nothing, little enough that an idle broker keeps little.
enum { POOL_KEEP = 64 };

// A blob and the bytes that follow it, either of which may be missing. Putting both into one span
// means that the end of a large reply and the beginning of the next share the blob's span.
struct output_span {
    struct output_span *next;
    struct blob *blob;
    size_t blob_sent;
    size_t start; // of the bytes that have not left
    size_t end;   // of the bytes that are there
    char bytes[OUTPUT_CHUNK];
};

static struct output_span *span_new(struct output_pool *pool)
{
    struct output_span *span = pool->free;

    if (span) {
        pool->free = span->next;
        pool->kept--;
    } else {
        span = malloc(sizeof *span);
        if (!span) {
            return NULL;
        }
    }
    span->next = NULL;
    span->blob = NULL;
    span->blob_sent = 0;
    span->start = 0;
    span->end = 0;
    return span;
}

static void span_give_back(struct output_pool *pool, struct output_span *span)
{
    blob_unref(span->blob);
    if (pool->kept >= POOL_KEEP) {
        free(span);
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
        free(span);
    }
    pool->kept = 0;
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
        span_give_back(out->pool, span);
    }
    out->tail = NULL;
    out->pending = 0;
    memset(out->gates, 0, sizeof out->gates);
}

// An empty span at the end; NULL, with the failure noted, without memory.
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
    if (!span || len > OUTPUT_CHUNK - span->end) {
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
    ENSURE(out->tail && len <= OUTPUT_CHUNK - out->tail->end);
    out->tail->end += len;
    out->pending += len;
}

// What does not fit into the last span.
static void output_write_on(struct output *out, struct slice bytes)
{
    while (bytes.len > 0) {
        struct output_span *span = out->tail;
        size_t len = bytes.len;

        if (!span || span->end == OUTPUT_CHUNK) {
            span = output_extend(out);
            if (!span) {
                return;
            }
        }
        if (len > OUTPUT_CHUNK - span->end) {
            len = OUTPUT_CHUNK - span->end;
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
    if (!span || bytes.len > OUTPUT_CHUNK - span->end) {
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
    // A span is of use while nothing is in it, since its blob goes before its bytes.
    if (!span || span->blob || span->end > 0) {
        span = output_extend(out);
        if (!span) {
            return;
        }
    }
    span->blob = blob_ref(blob);
    out->pending += blob->len;
}

// Whether the store has reached that position, or there is none to wait for.
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
    // It joins the last gate where nothing stands between, or where there can be no other.
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

void output_append(struct output *out, struct output *more)
{
    for (size_t i = 0; i < OUTPUT_GATES; i++) {
        output_hold(out, more->gates[i].position);
        more->gates[i] = (struct output_gate){0};
    }
    out->failed = out->failed || more->failed;
    if (more->head) {
        if (out->tail) {
            out->tail->next = more->head;
        } else {
            out->head = more->head;
        }
        out->tail = more->tail;
        out->pending += more->pending;
        output_init(more, more->pool);
    }
}

size_t output_pending(const struct output *out)
{
    return out->pending;
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

static struct slice cut(struct slice bytes, size_t len)
{
    return slice_of(bytes.ptr, bytes.len < len ? bytes.len : len);
}

size_t output_peek(const struct output *out, struct slice *spans, size_t max)
{
    size_t left = output_sendable(out);
    size_t count = 0;

    for (const struct output_span *span = out->head; span && left && count < max;
         span = span->next) {
        if (span->blob) {
            spans[count] = cut(slice_from(blob_slice(span->blob), span->blob_sent), left);
            left -= spans[count++].len;
        }
        if (span->end > span->start && left && count < max) {
            spans[count] = cut(slice_of(span->bytes + span->start, span->end - span->start), left);
            left -= spans[count++].len;
        }
    }
    return count;
}

// Takes up to `len` bytes off the front of the span; returns how many.
static size_t span_consume(struct output_span *span, size_t len)
{
    size_t taken = 0;

    if (span->blob) {
        size_t left = span->blob->len - span->blob_sent;

        taken = len < left ? len : left;
        span->blob_sent += taken;
        if (taken == left) {
            blob_unref(span->blob);
            span->blob = NULL;
        }
    }
    if (!span->blob) {
        size_t left = span->end - span->start;
        size_t part = len - taken < left ? len - taken : left;

        span->start += part;
        taken += part;
    }
    return taken;
}

void output_consume(struct output *out, size_t len)
{
    ENSURE(len <= output_sendable(out));
    out->pending -= len;
    for (size_t i = 0; i < OUTPUT_GATES; i++) {
        out->gates[i].before -= len < out->gates[i].before ? len : out->gates[i].before;
    }
    while (out->head) {
        struct output_span *span = out->head;

        len -= span_consume(span, len);
        if (span->blob || span->start < span->end) {
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
