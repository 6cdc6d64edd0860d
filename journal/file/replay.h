/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_REPLAY_H
#define TANDEM_JOURNAL_FILE_REPLAY_H

// Private to the journal's coming back: what its parts share while the segments are read.
//
// arrange.c finds out which segments there are and makes the row of them; replay.c reads one after
// the other and decides what is a torn end and what is damage; loss.c says what is lost; apply.c
// does what a record says.

#include "journal/apply.h"
#include "journal/file/files.h"
#include "journal/file/scan.h"

// A file that has the name of a segment.
struct found {
    uint64_t number;
    uint64_t size;
    bool headed;  // its head is good
    bool unsound; // something of it is lost, or its head had to be mended
    struct segment_head head;
};

struct replay {
    struct journal *journal;
    struct error_text *why;
    struct scan scan;
    struct found *found; // in the order of their numbers
    size_t count;
    size_t gone; // that stand before `found`: they are not needed
    size_t capacity;
    bool no_memory;   // while they were listed
    bool spare;       // a spare file is there
    uint64_t dropped; // the segments up to this number are not needed
    bool damaged;     // something was passed over
    struct seen seen;
    uint64_t records;
    uint64_t bytes;
};

// Finds the segments, and makes the row of those that are needed. False with the reason.
bool arrange_segments(struct replay *replay) MUST_USE;

// Removes the files that are not needed, oldest first. When all is read and synced: what says that
// they are not needed may have been in the system's memory only; not where that, perhaps, could not
// be synced. (Where one cannot be removed, it is in nobody's way.)
void arrange_remove_dropped(const struct replay *replay);

// The found segment behind that row's place; NULL where there is none of that number.
struct found *arrange_find(struct replay *replay, uint64_t number);

// Something is lost: `bytes` of the segment from `offset` on. True where that is passed over; else
// the reason is given.
bool replay_loses(struct replay *replay, uint64_t number, uint64_t offset, uint64_t bytes,
                  const char *what) MUST_USE;

// The disk failed. False.
bool replay_fails(struct replay *replay, uint64_t number, uint64_t offset, int error);

// Reads all segments and gives their jobs to the broker. Afterwards the row has a segment for each
// number from the oldest to the youngest (also for one that is missing, where that was repaired);
// all are closed, each with its `end`. What was read is synced. With settings.repair,
// restored->damaged says whether anything was passed over.
bool replay_files(struct journal *journal, struct restored *restored,
                  struct error_text *why) MUST_USE;

#endif
