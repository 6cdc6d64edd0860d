/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_SPACE_H
#define TANDEM_JOURNAL_FILE_SPACE_H

// Space in files: what the spare has, and what goes beyond the end of the current segment.
//
// Where a record does not fit into the current segment beside the reserved bytes, the spare becomes
// the current segment. While a spare is being made, which takes a moment, records may go beyond
// what is set aside; the segment is made larger before they are written, and those who submit are
// held back meanwhile.

#include "journal/file/files.h"

// storage_ops of the same names.
bool files_can_take(const struct journal *journal, uint64_t size, uint64_t extra);
bool files_next_fits(const struct journal *journal, uint64_t size, uint64_t beside);
void files_move_on(struct journal *journal, uint64_t size, uint64_t extra);
uint64_t files_bytes(const struct journal *journal);

// A segment that has less set aside than is to be written to it; NULL for none.
struct segment *files_too_small(const struct journal *journal);
// How many bytes such a segment should have.
uint64_t files_wanted(const struct journal *journal, const struct segment *segment);
// Whether a spare has a segment's worth beside all reserved bytes.
bool files_suffices(const struct journal *journal, const struct segment *spare);
// What a file is made with: so much beside all reserved bytes, and some more, since these may grow
// while it waits.
uint64_t files_file_size(const struct journal *journal);
// What the spare should have: that, or more where compaction waits for a place for a job that is
// larger than a segment. A disk that has no space for more is not full.
uint64_t files_spare_size(const struct journal *journal);
// Whether there is a spare, and it has less than that job needs.
bool files_spare_lacks_copy(const struct journal *journal);

#endif
