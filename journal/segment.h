/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_SEGMENT_H
#define TANDEM_JOURNAL_SEGMENT_H

// A file of the journal, as the process knows it, and the row of all that there are.
//
// Segments are numbered without a gap, written one after the other and removed oldest first: what a
// segment says of a job is superseded by what younger ones say of it, so that the oldest can go as
// soon as each job whose full record it has is gone or has been written anew. The job's mark
// (core/record.h) is the number of the segment that has its full record, its low 32 bits.

#include "core/base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Ids whose full records are in the segment are among those from `first` to `last`.
struct id_run {
    uint64_t first;
    uint64_t last;
};

struct segment {
    uint64_t number;
    uint64_t salt;         // mixed into its checksums, so that nobody can make up a record
    uint64_t previous_end; // where the records of the segment before it end; set before publishing
    bool previous_unsure;  // ... or perhaps earlier; the same
    uint64_t ids_end;      // as its head says: ids below it have perhaps been given out
    uint64_t created_ms;   // as its head says: wall clock
    uint64_t owner;        // of a unit, as its head says: which process began it
    uint64_t anew_below; // ... and that what lives is being written again from this unit on; 0: no
    uint32_t history;    // ... and of which history it is
    int file;            // -1: not open
    bool published;      // it has a head and its name; otherwise it is the spare, or on its way
    bool failed;         // it is written to no more
    bool unsure;         // ... and not all that is before its end could be synced
    bool damaged;        // its file is kept under another name when it is removed
    uint64_t size;       // bytes set aside on the disk for it
    uint64_t end;        // where the next record goes, or, where it is not the youngest, where its
                         // records end
    uint64_t written;    // how far tasks (task.h) have written it
    uint64_t zeroed;     // ... or put zeros, ahead of what is to come
    uint64_t synced;     // so much of it will survive a power cut
    uint64_t jobs;       // live jobs that are marked with it
    struct id_run *runs;
    size_t run_count;
    size_t run_capacity;
    uint64_t looks; // ids in all runs
};

// The name of its file, and space for it. Numbers begin at 1.
#define SEGMENT_NAME_MAX 32
#define SEGMENT_SPARE_NAME "spare"
void segment_name(uint64_t number, char name[SEGMENT_NAME_MAX]);
// The name that a damaged file is kept under.
void segment_aside_name(uint64_t number, char name[SEGMENT_NAME_MAX]);
// The number that a file name says; false for any other name.
bool segment_number_of(const char *name, uint64_t *number);

// A segment that is not open; NULL without memory. segment_free() does not close its file.
struct segment *segment_new(uint64_t number, uint64_t salt) MUST_USE;
void segment_free(struct segment *segment);

static inline bool segment_is_open(const struct segment *segment)
{
    return segment->file >= 0;
}

// Sees to it that one more id can be noted. False without memory.
bool segment_grow(struct segment *segment) MUST_USE;
static inline bool segment_make_room(struct segment *segment)
{
    return segment->run_count < segment->run_capacity || segment_grow(segment);
}
// Runs may have ids that are not there, and an id may be in two of them.
void segment_note_id(struct segment *segment, uint64_t id);

// All segments, oldest first: `list` has those from `first`, `count` of them, one number after the
// other. A zeroed row is empty.
struct segments {
    struct segment **list;
    size_t count;
    uint64_t first;
    struct segment **base; /* private: what was allocated; `list` moves along in it */
    size_t capacity;       /* private: of `base` */
};

// Sees to it that two more can be added. False without memory.
bool segments_grow(struct segments *segments) MUST_USE;
static inline bool segments_make_room(struct segments *segments)
{
    size_t passed = (size_t)(segments->list - segments->base);

    return passed + segments->count + 1 < segments->capacity || segments_grow(segments);
}
// Adds the youngest, whose number follows on that of the last; any number where the row is empty.
void segments_add(struct segments *segments, struct segment *segment);
// Takes the oldest out.
struct segment *segments_shift(struct segments *segments);
// NULL where there is none of that mark.
struct segment *segments_marked(const struct segments *segments, uint32_t mark);
// Frees all of them.
void segments_clear(struct segments *segments);

#endif
