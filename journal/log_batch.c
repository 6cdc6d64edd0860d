/* SPDX-License-Identifier: MIT */
#include "journal/log_batch.h"

#include "core/base/memory.h"
#include "journal/codec.h"

#include <string.h>

// Chunks kept beyond the number asked for, since batches come and go.
enum { KEPT_BEYOND = 32 };

static void chunk_pool_put(struct chunk_pool *pool, struct chunk *chunk)
{
    chunk->next = pool->free;
    pool->free = chunk;
    pool->count++;
}

static struct chunk *chunk_pool_take(struct chunk_pool *pool)
{
    struct chunk *chunk = pool->free;

    if (chunk) {
        pool->free = chunk->next;
        pool->count--;
    }
    return chunk;
}

bool chunk_pool_grow(struct chunk_pool *pool, size_t count)
{
    while (pool->count < count) {
        struct chunk *chunk = memory_alloc_of(MEMORY_JOURNAL, sizeof *chunk);

        if (!chunk) {
            return false;
        }
        chunk_pool_put(pool, chunk);
    }
    return true;
}

void chunk_pool_clear(struct chunk_pool *pool)
{
    struct chunk *chunk;

    while ((chunk = chunk_pool_take(pool))) {
        memory_free_of(MEMORY_JOURNAL, chunk, sizeof *chunk);
    }
    pool->asked = 0;
}

void batch_init(struct log_batch *batch, uint64_t position)
{
    *batch = (struct log_batch){.position = position, .first_id = UINT64_MAX};
}

static void batch_link(struct log_batch *batch, struct chunk *head, struct chunk *tail)
{
    if (batch->tail) {
        batch->tail->next = head;
    } else {
        batch->head = head;
    }
    batch->tail = tail;
}

struct chunk *batch_extend(struct log_batch *batch, struct chunk_pool *pool,
                           struct segment *segment)
{
    struct chunk *chunk = chunk_pool_take(pool);

    if (!chunk) {
        chunk = memory_alloc_of(MEMORY_JOURNAL, sizeof *chunk);
    }
    if (chunk) {
        chunk->next = NULL;
        chunk->segment = segment;
        chunk->offset = segment->end;
        chunk->used = 0;
        chunk->blob = NULL;
        chunk->padding = 0;
        batch_link(batch, chunk, chunk);
    }
    return chunk;
}

void batch_refer(struct log_batch *batch, struct blob *blob, size_t padding)
{
    struct chunk *chunk = batch->tail;

    ENSURE(chunk && chunk->used > 0 && !chunk->blob && padding < CHUNK_PADDING_MAX);
    chunk->blob = blob_ref(blob);
    chunk->padding = padding;
    chunk->segment->end += blob->len + padding;
    batch->bytes += blob->len + padding;
}

void batch_append(struct log_batch *batch, struct log_batch *more)
{
    batch->position = more->position;
    if (batch_empty(more)) {
        return;
    }
    if (batch_empty(batch)) {
        batch->marked = more->marked;
    }
    batch_link(batch, more->head, more->tail);
    batch->bytes += more->bytes;
    batch->records += more->records;
    if (more->first_id < batch->first_id) {
        batch->first_id = more->first_id;
    }
    batch_init(more, more->position);
}

void batch_move(struct log_batch *batch, struct segment *segment)
{
    for (struct chunk *chunk = batch->head; chunk; chunk = chunk->next) {
        chunk->segment = segment;
        chunk->offset = segment->end;
        segment->end += chunk_size(chunk);
    }
}

static void chunk_drop(struct chunk *chunk, struct chunk_pool *pool)
{
    blob_unref(chunk->blob);
    if (pool->count < pool->asked + KEPT_BEYOND) {
        chunk_pool_put(pool, chunk);
    } else {
        memory_free_of(MEMORY_JOURNAL, chunk, sizeof *chunk);
    }
}

void batch_pack(struct log_batch *batch, struct log_batch *more, struct chunk_pool *pool)
{
    struct chunk *chunk = more->head;
    struct chunk *tail = batch->tail;

    if (chunk && tail && !tail->blob && tail->segment == chunk->segment &&
        tail->offset + tail->used == chunk->offset && chunk->used <= CHUNK_BYTES - tail->used) {
        size_t size = chunk_size(chunk);

        memcpy(tail->bytes + tail->used, chunk->bytes, chunk->used);
        tail->used += chunk->used;
        tail->blob = chunk->blob;
        tail->padding = chunk->padding;
        chunk->blob = NULL;
        more->head = chunk->next;
        more->tail = more->head ? more->tail : NULL;
        batch->bytes += size;
        more->bytes -= size;
        chunk_drop(chunk, pool);
    }
    batch_append(batch, more);
}

void batch_say_synced(const struct log_batch *batch, uint64_t synced)
{
    if (batch->marked) {
        codec_put_number(batch->head->bytes, CODEC_SYNCED, synced);
    }
}

void batch_drop_synced(struct log_batch *batch, struct chunk_pool *pool)
{
    struct chunk *chunk = batch->head;
    struct chunk *next;

    batch->head = NULL;
    batch->tail = NULL;
    batch->bytes = 0;
    for (; chunk; chunk = next) {
        next = chunk->next;
        chunk->next = NULL;
        if (chunk->offset + chunk_size(chunk) <= chunk->segment->synced) {
            chunk_drop(chunk, pool);
        } else {
            batch->bytes += chunk_size(chunk);
            batch_link(batch, chunk, chunk);
        }
    }
}

void batch_drop(struct log_batch *batch, struct chunk_pool *pool)
{
    struct chunk *next;

    for (struct chunk *chunk = batch->head; chunk; chunk = next) {
        next = chunk->next;
        chunk_drop(chunk, pool);
    }
    batch_init(batch, batch->position);
}

static char zeros[CHUNK_PADDING_MAX];

void chunk_seal(struct chunk *chunk)
{
    size_t at = 0;

    while (at < chunk->used) {
        char *record = chunk->bytes + at;
        size_t len = chunk->used - at;
        uint64_t size = codec_record_size(record);
        struct slice tail = slice_of(NULL, 0);

        if (size <= len) {
            len = (size_t)size;
        } else {
            ENSURE(chunk->blob && size == chunk_size(chunk) - at);
            tail = blob_slice(chunk->blob);
        }
        codec_seal(record, len, tail, chunk->segment->salt, chunk->offset + at);
        at += len;
    }
}

int chunk_parts(struct chunk *chunk, struct iovec parts[CHUNK_PARTS])
{
    int count = 0;

    parts[count++] = (struct iovec){.iov_base = chunk->bytes, .iov_len = chunk->used};
    if (chunk->blob && chunk->blob->len > 0) {
        parts[count++] =
            (struct iovec){.iov_base = chunk->blob->bytes, .iov_len = chunk->blob->len};
    }
    if (chunk->padding > 0) {
        parts[count++] = (struct iovec){.iov_base = zeros, .iov_len = chunk->padding};
    }
    return count;
}
