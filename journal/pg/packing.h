/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_PACKING_H
#define TANDEM_JOURNAL_PG_PACKING_H

// A batch as rows: the bytes that it adds to each unit, in rows of at most ROWS_BYTES_MAX bytes.
// The first row of a unit begins with its head.

#include "journal/codec.h"
#include "journal/log_batch.h"
#include "journal/pg/journal_rows.h"

struct packing {
    struct rows_new *rows; // of the batch that was packed last
    size_t count;
    uint64_t history;                  // of the last row's unit
    size_t row_capacity;               /* private */
    struct iovec *parts;               /* private */
    size_t part_count;                 /* private */
    size_t part_capacity;              /* private */
    char (*heads)[CODEC_SEGMENT_HEAD]; /* private */
    size_t head_count;                 /* private */
    size_t head_capacity;              /* private */
};

// Makes the rows of the batch, numbered from `seq` on, and fills in its checksums. The rows point
// to the batch's memory. False without memory. A zeroed packing is empty.
bool packing_pack(struct packing *packing, struct log_batch *batch, uint64_t seq) MUST_USE;
// The rows of the batch were committed.
void packing_written(const struct log_batch *batch);
void packing_clear(struct packing *packing);

#endif
