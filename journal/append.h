/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_APPEND_H
#define TANDEM_JOURNAL_APPEND_H

// Appends records to the batch that is being gathered: changes that the core reports, and the
// journal's own records.
//
// One free chunk is enough for any record. If the pool has none and there is no memory, the record
// is not written, and clients that wait for its position are given up; a caller that can wait for
// the storage makes a chunk available first (turn_make_memory).

#include "core/record.h"
#include "journal/codec.h"

struct journal;

// These append a change of the core, and return the bytes of the record.
size_t append_record(struct journal *journal, const struct record *record);
// `extra` is what the record adds to the reserved bytes.
size_t append_job(struct journal *journal, const struct job *job, uint64_t extra);
size_t append_pause(struct journal *journal, const struct queue *queue);
size_t append_memo(struct journal *journal, const struct memo *memo);
size_t append_number(struct journal *journal, enum codec_type type, uint64_t number);
// Begins a batch, which may stay otherwise empty; there must be space for it.
void append_mark(struct journal *journal);
// Appends the next block of ids if it is due.
void append_ids(struct journal *journal);
// Whether append_ids() would append a record.
bool append_ids_due(const struct journal *journal);
// Whether ids were given out beyond the last block whose record is synced.
bool append_ids_short(const struct journal *journal);

#endif
