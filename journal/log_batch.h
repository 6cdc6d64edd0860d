/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_LOG_BATCH_H
#define TANDEM_JOURNAL_LOG_BATCH_H

// A batch: the records that were appended while the previous batch was being written. It is written
// and synced as one, and its number is the log position that dependent output waits for.
//
// A batch is a chain of chunks, each a contiguous range of one segment. A record lies within one
// chunk, except that the body of a large job is referenced: it follows the chunk's bytes, and the
// record is then the last of the chunk. The worker thread fills in the checksums, so that the loop
// need not touch each byte.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "journal/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define CHUNK_BYTES ((size_t)65536 - 64)
#define CHUNK_PADDING_MAX 8

struct chunk {
    struct chunk *next;
    struct segment *segment;
    uint64_t offset; // of its first byte in the segment
    size_t used;
    struct blob *blob; // follows the bytes; NULL: none. The chunk has a reference
    size_t padding;    // zeros after the blob
    char bytes[CHUNK_BYTES];
};

// All bytes of the chunk in the segment.
static inline size_t chunk_size(const struct chunk *chunk)
{
    return chunk->used + (chunk->blob ? chunk->blob->len : 0) + chunk->padding;
}

// Fills in the checksums of the chunk's records, for their place in the segment.
void chunk_seal(struct chunk *chunk);
// The pieces of memory that the chunk consists of; returns their number.
enum { CHUNK_PARTS = 3 };
int chunk_parts(struct chunk *chunk, struct iovec parts[CHUNK_PARTS]);

// Free chunks that are set aside, so that records that cannot be refused always find one. Of chunks
// that are returned it keeps as many as were asked for last, and some more. A zeroed pool is empty.
struct chunk_pool {
    struct chunk *free; /* private */
    size_t count;
    size_t asked; /* private */
};

// Allocates until there are `count`. False without memory: the chunks allocated so far stay.
bool chunk_pool_grow(struct chunk_pool *pool, size_t count) MUST_USE;
static inline bool chunk_pool_fill(struct chunk_pool *pool, size_t count)
{
    pool->asked = count;
    return pool->count >= count || chunk_pool_grow(pool, count);
}
void chunk_pool_clear(struct chunk_pool *pool);

struct log_batch {
    uint64_t position;
    struct chunk *head;
    struct chunk *tail;
    size_t bytes;      // of all chunks, referenced bodies included
    uint64_t records;  // appended by the core
    uint64_t first_id; // the lowest id of a job submitted in it; UINT64_MAX: none was
    uint64_t ids_end;  // ids below it may be given out, by a record in this batch or an earlier one
    bool marked;       // it begins with a SYNCED record, to be filled in
};

// The journal's batches and the chunks that are set aside for them.
struct log_batches {
    struct log_batch gathering; // receives records now
    struct log_batch writing;   // being written, or next to be written; may be empty
    struct log_batch unsynced;  // written but not synced: kept so that it can be written again
    struct chunk_pool pool;
};

void batch_init(struct log_batch *batch, uint64_t position);
static inline bool batch_empty(const struct log_batch *batch)
{
    return batch->head == NULL;
}

// Adds a chunk at the end of the segment; NULL if the pool is empty and there is no memory.
struct chunk *batch_extend(struct log_batch *batch, struct chunk_pool *pool,
                           struct segment *segment);

// Adds `len` bytes (at most CHUNK_BYTES), not initialized, at the end of the segment, which
// advances; NULL if the pool is empty and there is no memory.
static inline char *batch_reserve(struct log_batch *batch, struct chunk_pool *pool,
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

// Puts the blob and zeros (fewer than CHUNK_PADDING_MAX) after the bytes reserved last.
void batch_refer(struct log_batch *batch, struct blob *blob, size_t padding);

// Moves all chunks of `more` to the end of `batch`, which takes its position; `more` is then empty
// and keeps its position.
void batch_append(struct log_batch *batch, struct log_batch *more);

// The same, but copies a chunk into the last chunk of `batch` if it fits and directly follows it,
// so that many small batches take no more memory than one large one.
void batch_pack(struct log_batch *batch, struct log_batch *more, struct chunk_pool *pool);

// Fills in the SYNCED record at the beginning of a marked batch.
void batch_say_synced(const struct log_batch *batch, uint64_t synced);

// Returns the chunks that are synced to the pool.
void batch_drop_synced(struct log_batch *batch, struct chunk_pool *pool);

// Moves the chunks to the end of the segment, which advances.
void batch_move(struct log_batch *batch, struct segment *segment);

// Returns all chunks to the pool; the batch is then empty and keeps its position.
void batch_drop(struct log_batch *batch, struct chunk_pool *pool);

#endif
