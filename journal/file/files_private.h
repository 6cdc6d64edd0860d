/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_FILES_PRIVATE_H
#define TANDEM_JOURNAL_FILE_FILES_PRIVATE_H

// Private to journal/file: segments in files of one directory, a storage of the journal
// (journal/storage.h).
//
// Records go to the file of the current segment. The next file, the spare, is prepared meanwhile,
// and takes over when the current one is full. While there is none, records may exceed the
// allocated space; the segment is enlarged before they are written, and submitters are held back.

#include "core/base/list.h"
#include "journal/file/disk.h"
#include "journal/file/manifest.h"
#include "journal/journal_private.h"

struct files {
    struct storage storage;
    const struct journal_io *io;
    struct segment *next;     // PREPARING or SPARE: the next segment; NULL: none yet
    struct segment *freeing;  // FREEING; NULL: none
    struct manifest manifest; // as stored; its host is set before the first is stored
    struct manifest next_manifest;
    uint64_t salts; // number of salts drawn
    bool locked;    // this process has claimed the directory
};

static inline struct files *files_of(const struct journal *journal)
{
    return container_of(journal->storage, struct files, storage);
}

// The spare; NULL: none, or not ready yet.
static inline struct segment *files_spare(const struct journal *journal)
{
    struct segment *next = files_of(journal)->next;

    return next && next->state == SEGMENT_SPARE ? next : NULL;
}

//
// Segments and their space (files_segments.c)
//

// Closes the file of a segment if it is open.
void files_close_segment(const struct journal *journal, struct segment *segment);
// A random number for a segment.
uint64_t files_draw_salt(struct journal *journal);
// Makes `next` the current segment. There is room for it in the list.
void files_follow(struct journal *journal, struct segment *next);
// Gives the file of the spare to the current segment, which has none. False without a spare.
bool files_take_spare(struct journal *journal);
// Whether the errno value means that the disk is full, and not that something is broken.
bool files_disk_is_full(int error);

// storage_ops of the same names.
bool files_can_take(const struct journal *journal, uint64_t size, uint64_t extra);
bool files_next_fits(const struct journal *journal, uint64_t size, uint64_t beside);
void files_move_on(struct journal *journal, uint64_t size, uint64_t extra);
uint64_t files_bytes(const struct journal *journal);
void files_write_failed(struct journal *journal);

// A segment that has less space allocated than is to be written to it; NULL: none.
struct segment *files_too_small(const struct journal *journal);
// The size that such a segment should have.
uint64_t files_wanted(const struct journal *journal, const struct segment *segment);
// Whether a segment is large enough for a spare.
bool files_suffices(const struct journal *journal, const struct segment *segment);
// The size with which a file is created: a segment's size beside all reserved bytes, and some more,
// since these may grow meanwhile.
uint64_t files_file_size(const struct journal *journal);
// The size that the spare should have: that, or more if compaction waits to copy a job that is
// larger than a segment. A disk that has no space for more does not count as full.
uint64_t files_spare_size(const struct journal *journal);
// Whether there is a spare that is too small for that job.
bool files_spare_lacks_copy(const struct journal *journal);

//
// Maintenance (maintenance.c): prepares the spare, allocates and frees space, removes files
//

// storage_ops of the same names.
bool files_maintain(struct journal *journal);
void files_maintained(struct journal *journal);
uint64_t files_maintenance_share(const struct journal *journal, uint64_t bytes);
// Gives a task that enlarges the segment by one step. Returns true.
bool files_enlarge(struct journal *journal, struct segment *segment);
// The disk is no longer full, if it was.
void files_has_space_again(struct journal *journal);

#endif
