/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_REPLAY_H
#define TANDEM_JOURNAL_FILE_REPLAY_H

// Reads the journal back at a start. arrange.c lists the segments and decides which are needed;
// replay.c reads one after the other, and decides what is a torn end and what is damage; apply.c
// applies the records.

#include "core/base/error_text.h"
#include "journal/apply.h"
#include "journal/file/files_private.h"
#include "journal/file/scan.h"

// A file with the name of a segment.
struct segment_file {
    uint64_t number;
    uint64_t size;
    bool headed;  // its head is valid
    bool unsound; // a part of it is lost, or its head was corrected
    struct segment_head head;
};

struct replay {
    struct journal *journal;
    struct error_text *why;
    struct scan scan;
    struct segment_file *found; // by number
    size_t count;
    size_t gone; // files before `found`, which are not needed
    size_t capacity;
    bool no_memory;   // while files were listed
    bool spare;       // there is a spare file
    uint64_t dropped; // the segments up to this number are not needed
    bool damaged;     // some damage was passed over
    struct replay_ids seen;
    uint64_t records;
    uint64_t bytes;
};

// Lists the segments, and puts those that are needed into the journal's list. False with the
// reason.
bool arrange_segments(struct replay *replay) MUST_USE;

// Removes the files that are not needed, oldest first. Only when all has been read and synced: the
// record that drops them may have been in the system's memory only. A file that cannot be removed
// does no harm.
void arrange_remove_dropped(const struct replay *replay);

// The file of that segment; NULL: missing.
struct segment_file *arrange_find(struct replay *replay, uint64_t number);

// `bytes` of the segment, from `offset` on, are lost. True if that is passed over; otherwise the
// reason is set.
bool replay_loses(struct replay *replay, uint64_t number, uint64_t offset, uint64_t bytes,
                  const char *what) MUST_USE;

// The disk failed: sets the reason. Returns false.
bool replay_fails(struct replay *replay, uint64_t number, uint64_t offset, int error);

// Reads all segments and gives their jobs to the broker. Afterwards the list has a segment for each
// number from the oldest to the youngest (also for a missing one, if that was repaired), all
// closed, each with its `end`. Everything read is synced. With settings.repair, restored->damaged
// says whether damage was passed over.
bool replay_files(struct journal *journal, struct restored *restored,
                  struct error_text *why) MUST_USE;

#endif
