/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_BATCH_H
#define TANDEM_JOURNAL_BATCH_H

// Records on their way to the disk: what was appended while the batch before was being written.
// It is written and synced in one go, and its number is the log position that what depends on it
// waits for.
//
// A batch is a chain of chunks, each a stretch of one segment. A record is whole within its chunk,
// but for the body of a large job, which is referred to and stands behind the chunk's bytes; the
// record is the last of the chunk then. Checksums are filled in by whoever writes the batch, so
// that the loop need not look at each byte (task.h).

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "journal/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNK_BYTES ((size_t)65536 - 64)
#define CHUNK_PADDING_MAX 8

struct chunk {
    struct chunk *next;
    struct segment *segment;
    uint64_t offset; // of its first byte, in the segment's file
    size_t used;
    struct blob *blob; // follows the bytes; NULL for none. The chunk has a reference
    size_t padding;    // zeros that follow the blob
    char bytes[CHUNK_BYTES];
};

// All of it, as it stands in the file.
static inline size_t chunk_size(const struct chunk *chunk)
{
    return chunk->used + (chunk->blob ? chunk->blob->len : 0) + chunk->padding;
}

// Empty chunks that are set aside, so that what cannot be refused can be taken down. Of those that
// come back it keeps as many as were asked for last, and a few more. A zeroed pool is empty.
struct chunk_pool {
    struct chunk *free; /* private */
    size_t count;       // of them
    size_t asked;       /* private */
};

// Allocates until there are `count`. False without memory: those that could be had are kept.
bool chunk_pool_grow(struct chunk_pool *pool, size_t count) MUST_USE;
static inline bool chunk_pool_fill(struct chunk_pool *pool, size_t count)
{
    pool->asked = count;
    return pool->count >= count || chunk_pool_grow(pool, count);
}
void chunk_pool_clear(struct chunk_pool *pool);

struct batch {
    uint64_t position;
    struct chunk *head;
    struct chunk *tail;
    size_t bytes;      // all of it, bodies that are referred to included
    uint64_t records;  // appended by the core
    uint64_t first_id; // no job that was submitted in it has a lower one; UINT64_MAX: none was
    uint64_t ids_end;  // ids below it may be given out, as it says or one before it
    bool marked;       // it begins with space for a record that says how far the segment is synced
};

// Those that the journal has, and the chunks that are set aside for them.
struct batches {
    struct batch gathering; // what is appended now
    struct batch writing;   // what is being written, or to be written next; empty: nothing
    struct batch unsynced;  // written, but not synced yet: kept so that it can be written anew
    struct chunk_pool pool;
};

void batch_init(struct batch *batch, uint64_t position);
static inline bool batch_empty(const struct batch *batch)
{
    return batch->head == NULL;
}

// A chunk at the end of the segment; NULL where none is left and none can be had.
struct chunk *batch_extend(struct batch *batch, struct chunk_pool *pool, struct segment *segment);

// Space for `len` bytes (at most CHUNK_BYTES) at the end of the segment, which moves on; NULL where
// no chunk is left and none can be had. The bytes are not set.
static inline char *batch_reserve(struct batch *batch, struct chunk_pool *pool,
                                  struct segment *segment, size_t len)
{
    struct chunk *chunk = batch->tail;
    char *at;

    if (!chunk || chunk->segment != segment || chunk->blob || CHUNK_BYTES - chunk->used < len) {
        chunk = batch_extend(batch, pool, segment);
        if (!chunk) {
            return NULL;
        }
    }
    at = chunk->bytes + chunk->used;
    chunk->used += len;
    segment->end += len;
    batch->bytes += len;
    return at;
}

// Puts the blob, and zeros (fewer than CHUNK_PADDING_MAX), behind what was reserved last.
void batch_refer(struct batch *batch, struct blob *blob, size_t padding);

// Moves all chunks of `more` to the end of `batch`, which takes its position; `more` is empty then,
// and keeps its position.
void batch_append(struct batch *batch, struct batch *more);

// The same, but what fits into the last chunk of `batch`, and stands right behind it, is copied
// there: very many small batches take no more memory than one that is as large as they are
// together.
void batch_pack(struct batch *batch, struct batch *more, struct chunk_pool *pool);

// Fills in, where the batch begins with that, how far its segment is synced.
void batch_say_synced(const struct batch *batch, uint64_t synced);

// Gives back the chunks that are synced already.
void batch_drop_synced(struct batch *batch, struct chunk_pool *pool);

// Gives the chunks new places, one after the other at the end of the segment, which moves on.
void batch_move(struct batch *batch, struct segment *segment);

// Gives everything back; the batch is empty then, and keeps its position.
void batch_drop(struct batch *batch, struct chunk_pool *pool);

#endif
