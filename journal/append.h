/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_APPEND_H
#define TANDEM_JOURNAL_APPEND_H

// Appending records to the batch that is being gathered: those that the core hands in (recorder.c),
// and the journal's own.
//
// A chunk is enough for any record. Where the pool has none, and there is no memory, the record is
// not written, and nobody is told of it: whoever can wait for the disk sees to a chunk first.

#include "core/record.h"
#include "journal/codec.h"

struct journal;

// Of what the core has changed. All these return the bytes of the record.
size_t append_record(struct journal *journal, const struct record *record);
// `extra` is what the record adds to the reserved bytes.
size_t append_job(struct journal *journal, const struct job *job, uint64_t extra);
size_t append_pause(struct journal *journal, const struct queue *queue);
size_t append_memo(struct journal *journal, const struct memo *memo);
size_t append_number(struct journal *journal, enum codec_type type, uint64_t number);
// Begins a batch, of which nothing more need come; there must be space for it.
void append_mark(struct journal *journal);
// Sees to it that there are ids to be given out. And whether it would append a record for that.
void append_ids(struct journal *journal);
bool append_ids_due(const struct journal *journal);
// Whether ids were given out of which it is not synced that they may be.
bool append_ids_short(const struct journal *journal);

#endif
