/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_PACKING_H
#define TANDEM_JOURNAL_PG_PACKING_H

// A batch as rows: the bytes that it adds to each unit, in rows of ROWS_BYTES_MAX at most. A unit
// whose first bytes these are begins with its head.

#include "journal/batch.h"
#include "journal/codec.h"
#include "journal/pg/rows.h"

struct packing {
    struct rows_new *rows; // of the batch that was packed last
    size_t count;
    uint64_t history;                  // of the unit that the last of them belongs to
    size_t row_capacity;               /* private */
    struct iovec *parts;               /* private */
    size_t part_count;                 /* private */
    size_t part_capacity;              /* private */
    char (*heads)[CODEC_SEGMENT_HEAD]; /* private */
    size_t head_count;                 /* private */
    size_t head_capacity;              /* private */
};

// The rows of the batch, numbered from `seq` on; they point to the batch's memory. Its checksums
// are filled in. False without memory. A zeroed packing is empty.
bool packing_pack(struct packing *packing, struct batch *batch, uint64_t seq) MUST_USE;
// The rows are there now.
void packing_written(const struct batch *batch);
void packing_clear(struct packing *packing);

#endif
