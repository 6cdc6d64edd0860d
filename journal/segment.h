/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_SEGMENT_H
#define TANDEM_JOURNAL_SEGMENT_H

// A segment: a contiguous part of the log, kept in a file (journal/file/) or as a unit of rows of a
// database (journal/pg/); and all segments that the journal has.
//
// Segments are numbered without a gap, written one after the other and removed oldest first. What a
// segment says of a job is superseded by later segments, so the oldest one can be removed as soon
// as each job whose full record it holds has ended or has been copied to a later segment. A job's
// mark (core/record.h) is the low 32 bits of the number of the segment that holds its full record.

#include "core/base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The life of a segment; segment_set_state() knows which state may follow which.
enum segment_state {
    SEGMENT_PREPARING, // no number yet; space for it may be allocated
    SEGMENT_SPARE,     // no number yet; ready to become the current segment
    SEGMENT_BEGUN,     // in the list: takes records, but nothing is stored under its number
    SEGMENT_PUBLISHED, // in the list: its head is stored, under its number
    SEGMENT_FAILED,    // in the list: could not be written or synced, and is no longer written to
    SEGMENT_REMOVING,  // left the list: nothing in it is needed, and its storage is to be removed
    SEGMENT_FREEING    // its file has no name any more, and gives back its space
};

// A range of ids: full records of jobs with some of these are in the segment.
struct id_run {
    uint64_t first;
    uint64_t last;
};

struct segment {
    uint64_t number;
    uint64_t salt;         // part of its checksums, so that no client can forge a record
    uint64_t previous_end; // where the records of the segment before end; set before publishing
    bool previous_unsure;  // ... or perhaps earlier; the same
    uint64_t ids_end;      // of its head: ids below it may have been given out
    uint64_t created_ms;   // of its head: wall clock
    uint64_t owner;        // of a unit's head: the process that began it
    uint64_t rewrite_from; // of a unit's head: live content is being rewritten to units from this
                           // number on; 0: it is not
    uint32_t history;      // of a unit's head: the history that it belongs to
    int file;              // -1: not open
    enum segment_state state;
    bool unsure;      // FAILED: not all bytes before its end could be synced
    bool damaged;     // on removal its file is renamed and kept
    uint64_t size;    // bytes allocated for it
    uint64_t end;     // where the next record goes or, unless it is the youngest, its records end
    uint64_t written; // how far tasks have written it
    uint64_t zeroed;  // ... or written zeros ahead
    uint64_t synced;  // how far its content will survive a power failure
    uint64_t jobs;    // live jobs that are marked with it
    struct id_run *runs;
    size_t run_count;
    size_t run_capacity;
    uint64_t looks; // ids in all runs
};

// The name of its file. Numbers begin at 1.
#define SEGMENT_NAME_MAX 32
#define SEGMENT_SPARE_NAME "spare"
void segment_name(uint64_t number, char name[SEGMENT_NAME_MAX]);
// The name under which a damaged file is kept.
void segment_aside_name(uint64_t number, char name[SEGMENT_NAME_MAX]);
// The number that a file name contains; false for any other name.
bool segment_number_of(const char *name, uint64_t *number);

// A segment in PREPARING that is not open; NULL without memory. segment_free() does not close its
// file.
struct segment *segment_new(uint64_t number, uint64_t salt) MUST_USE;
void segment_free(struct segment *segment);
// Moves the segment to a state that may follow its present one.
void segment_set_state(struct segment *segment, enum segment_state state);

static inline bool segment_is_open(const struct segment *segment)
{
    return segment->file >= 0;
}
// Whether its head was stored.
static inline bool segment_is_published(const struct segment *segment)
{
    return segment->state >= SEGMENT_PUBLISHED && segment->state <= SEGMENT_REMOVING;
}

// Makes room for one more id. False without memory.
bool segment_grow(struct segment *segment) MUST_USE;
static inline bool segment_make_room(struct segment *segment)
{
    return segment->run_count < segment->run_capacity || segment_grow(segment);
}
// Runs may contain other ids, and an id may be in two of them.
void segment_note_id(struct segment *segment, uint64_t id);

// Segments, oldest first: `items` are those from number `first` on. A zeroed list is empty.
struct segment_list {
    struct segment **items;
    size_t count;
    uint64_t first;
    struct segment **base; /* private: the allocation; `items` advances in it */
    size_t capacity;       /* private: of `base` */
};

// Makes room for two more. False without memory.
bool segment_list_grow(struct segment_list *list) MUST_USE;
static inline bool segment_list_make_room(struct segment_list *list)
{
    size_t passed = (size_t)(list->items - list->base);

    return passed + list->count + 1 < list->capacity || segment_list_grow(list);
}
// Adds the youngest, which has the next number; any number if the list is empty.
void segment_list_add(struct segment_list *list, struct segment *segment);
// Takes the oldest out.
struct segment *segment_list_shift(struct segment_list *list);
// The segment of a mark; NULL: it is not in the list.
struct segment *segment_list_marked(const struct segment_list *list, uint32_t mark);
// Frees all of them.
void segment_list_clear(struct segment_list *list);

// The segments of the journal: those in the list, and those that join or leave it. The youngest is
// the current one, to which records are appended.
struct segments {
    struct segment_list list;
    struct segment *current;     // the youngest; NULL: not begun
    struct segment *replacement; // PREPARING, set aside for when a segment must be given up
    struct segment *removing; // REMOVING; NULL: none. If the storage rewrites, segments before it
                              // are removed with it
    uint64_t removable_at;    // ... when this log position is synced
    uint64_t rewrite_from;    // segments of lower numbers are to be removed, after their live
                              // content was rewritten to others
    uint64_t used_before;     // bytes of records in all segments but the current one
};

// Makes sure that a segment can be added, and one be given up, without allocating. False without
// memory.
bool segments_make_replacement(struct segments *segments) MUST_USE;
static inline bool segments_make_room(struct segments *segments)
{
    return segment_list_make_room(&segments->list) &&
           (segments->replacement || segments_make_replacement(segments));
}

// Makes `next` the current segment, in BEGUN. There is room for it. The rest goes to its head.
void segments_begin(struct segments *segments, struct segment *next, uint64_t ids_end,
                    uint64_t created_ms);
// Notes, for the head of the current segment and for the ledger, where the segments before it end.
void segments_note_previous(struct segments *segments);
// To be called when the list or the end of a segment before the current one has changed.
void segments_recount(struct segments *segments);
// Whether there are segments whose live content is to be rewritten.
static inline bool segments_need_rewrite(const struct segments *segments)
{
    return segments->list.count > 0 && segments->list.first < segments->rewrite_from;
}

// Bytes of records in all segments.
static inline uint64_t segments_used(const struct segments *segments)
{
    return segments->used_before + segments->current->end;
}
// The same; there need not be a current segment.
uint64_t segments_bytes(const struct segments *segments);

// The segment that was written to last, which may have left the list; NULL: none.
struct segment *segments_last_written(const struct segments *segments);
// The same if it may be synced or written to; NULL if it has failed or is closed.
struct segment *segments_syncable(const struct segments *segments);

#endif
