/* SPDX-License-Identifier: MIT */
#include "journal/pg/packing.h"

#include <stdlib.h>
#include <string.h>

// An array of at least `count` items. NULL without memory: the old one remains.
static void *packing_grown(void *items, size_t *capacity, size_t count, size_t size)
{
    void *more = items;

    if (*capacity < count) {
        more = realloc(items, count * size);
        *capacity = more ? count : *capacity;
    }
    return more;
}

// Makes room for all parts before the first is used, since rows point to them.
static bool packing_make_room(struct packing *packing, const struct log_batch *batch)
{
    size_t chunks = 0;
    size_t segments = 0;
    const struct segment *last = NULL;
    struct rows_new *rows;
    struct iovec *parts;
    char(*heads)[CODEC_SEGMENT_HEAD];
    size_t cuts;

    for (const struct chunk *chunk = batch->head; chunk; chunk = chunk->next) {
        chunks++;
        segments += chunk->segment != last;
        last = chunk->segment;
    }
    cuts = (batch->bytes + segments * CODEC_SEGMENT_HEAD) / ROWS_BYTES_MAX + 1;
    rows = packing_grown(packing->rows, &packing->row_capacity, segments + cuts, sizeof *rows);
    packing->rows = rows ? rows : packing->rows;
    parts = packing_grown(packing->parts, &packing->part_capacity,
                          CHUNK_PARTS * chunks + segments + cuts, sizeof *parts);
    packing->parts = parts ? parts : packing->parts;
    heads = packing_grown(packing->heads, &packing->head_capacity, segments, CODEC_SEGMENT_HEAD);
    packing->heads = heads ? heads : packing->heads;
    return rows && parts && heads;
}

static struct rows_new *packing_next_row(struct packing *packing, const struct segment *segment,
                                         uint64_t seq)
{
    struct rows_new *row = &packing->rows[packing->count];

    ENSURE(packing->rows && packing->count < packing->row_capacity);
    *row = (struct rows_new){.unit = segment->number,
                             .seq = seq + packing->count,
                             .parts = packing->parts + packing->part_count};
    packing->count++;
    return row;
}

static void packing_add(struct packing *packing, const struct segment *segment, uint64_t seq,
                        char *bytes, size_t len)
{
    while (len > 0) {
        struct rows_new *row = packing->count ? &packing->rows[packing->count - 1] : NULL;
        size_t most;

        if (!row || row->unit != segment->number || row->len == ROWS_BYTES_MAX) {
            row = packing_next_row(packing, segment, seq);
        }
        most = ROWS_BYTES_MAX - row->len;
        most = len < most ? len : most;
        ENSURE(packing->part_count < packing->part_capacity);
        packing->parts[packing->part_count++] = (struct iovec){.iov_base = bytes, .iov_len = most};
        row->count++;
        row->len += most;
        bytes += most;
        len -= most;
    }
}

bool packing_pack(struct packing *packing, struct log_batch *batch, uint64_t seq)
{
    const struct segment *begun = NULL;

    packing->count = 0;
    packing->part_count = 0;
    packing->head_count = 0;
    if (!packing_make_room(packing, batch)) {
        return false;
    }
    for (struct chunk *chunk = batch->head; chunk; chunk = chunk->next) {
        const struct segment *segment = chunk->segment;
        struct iovec parts[CHUNK_PARTS];
        int count;

        if (!segment_is_published(segment) && segment != begun) {
            char *head = packing->heads[packing->head_count++];

            begun = segment;
            segment_put_unit_head(head, segment);
            packing_add(packing, segment, seq, head, CODEC_SEGMENT_HEAD);
        }
        chunk_seal(chunk);
        count = chunk_parts(chunk, parts);
        for (int i = 0; i < count; i++) {
            packing_add(packing, segment, seq, parts[i].iov_base, parts[i].iov_len);
        }
        packing->history = segment->history;
    }
    return true;
}

void packing_written(const struct log_batch *batch)
{
    for (const struct chunk *chunk = batch->head; chunk; chunk = chunk->next) {
        struct segment *segment = chunk->segment;

        if (!segment_is_published(segment)) {
            segment_set_state(segment, SEGMENT_PUBLISHED);
        }
        segment->written = chunk->offset + chunk_size(chunk);
        segment->synced = segment->written;
    }
}

void packing_clear(struct packing *packing)
{
    free(packing->rows);
    free(packing->parts);
    free(packing->heads);
    memset(packing, 0, sizeof *packing);
}
