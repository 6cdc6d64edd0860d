/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_ROW_H
#define TANDEM_JOURNAL_ROW_H

// The row of segments that the journal has, oldest first, and what is about to join or to leave it.
// The youngest segment is the current one, to which records are appended.

#include "journal/segment.h"

struct row {
    struct segments segments;
    struct segment *current;     // the youngest: what is appended goes to it
    struct segment *replacement; // an empty one, set aside for when a segment must be given up
    struct segment *removing;    // taken out of the row, what it is kept in is to go; NULL: none.
                                 // Where the storage renews, what came before it goes, too
    uint64_t removable_at;       // ... when this log position is synced
    uint64_t unsound_below;      // segments of lower numbers are to go, whatever they have
    uint64_t used_before;        // bytes that records take in all segments but the current one
};

// Sees to it that a segment can be added, and one be given up, without asking for memory.
bool row_make_replacement(struct row *row) MUST_USE;
static inline bool row_make_room(struct row *row)
{
    return segments_make_room(&row->segments) && (row->replacement || row_make_replacement(row));
}

// Makes `next` the current segment. The row has space for it. Its head says that ids below
// `ids_end` have perhaps been given out, and when it was begun.
void row_follow(struct row *row, struct segment *next, uint64_t ids_end, uint64_t created_ms);
// Notes, for the head of the current segment and for the books, where those before it end.
void row_note_previous(struct row *row);
// The row is another than before, or segments in it that are written to no more end elsewhere.
void row_count(struct row *row);
// Whether it has segments that are to go, whatever they have.
static inline bool row_is_unsound(const struct row *row)
{
    return row->segments.count > 0 && row->segments.first < row->unsound_below;
}

// Bytes that records take.
static inline uint64_t row_used(const struct row *row)
{
    return row->used_before + row->current->end;
}

// Bytes that records take in all segments; the row may be without a current one.
uint64_t row_bytes(const struct row *row);

// The segment that was written to last, which may have left the row already; NULL for none.
struct segment *row_written_last(const struct row *row);
// The same, if it may be synced, or written to: NULL where it was given up, or is closed.
struct segment *row_syncable(const struct row *row);

#endif
