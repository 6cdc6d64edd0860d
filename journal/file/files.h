/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_FILES_H
#define TANDEM_JOURNAL_FILE_FILES_H

// Segments in files of one directory: a storage of the journal (journal/storage.h).
//
// What is appended goes to the file of the current segment; behind it stands the spare, a file with
// its space set aside that takes over when the current one is full. A file is on its way to be the
// spare (`making`), in the row, on its way out of it (row.removing, then `shedding`), or gone.

#include "core/base/list.h"
#include "journal/file/about.h"
#include "journal/file/io.h"
#include "journal/journal_private.h"

struct files {
    struct storage storage;
    const struct journal_io *io;
    struct segment *spare;    // a file with space set aside, without a number yet; NULL: none
    struct segment *making;   // what is to be the spare, with some space set aside; NULL: none
    struct segment *shedding; // its file has no name any more, but still space; NULL: none
    struct about about;       // as the file of that name says; its host is known before it says
                              // anything
    struct about next_about;  // what it is to say
    uint64_t salts;           // how many were drawn
    bool locked;              // the directory is this process's
};

// Of a journal that is kept in files.
static inline struct files *files_of(const struct journal *journal)
{
    return container_of(journal->storage, struct files, storage);
}

// Closes the file of a segment, where it is open.
void files_close_segment(const struct journal *journal, struct segment *segment);
// A random number for a segment.
uint64_t files_draw_salt(struct journal *journal);
// Makes `next`, a file, the current segment. The row has space for it.
void files_follow(struct journal *journal, struct segment *next);
// The current segment has no file: it gets that of the spare. False where there is none.
bool files_take_spare(struct journal *journal);
// storage_ops.replace
struct segment *files_replace(struct journal *journal, struct segment *bad);
// Whether that errno value says that the disk is full, and not that something is broken, or used up
// in the process.
bool files_disk_is_full(int error);

// Reads the file `about`, where there is one; what is wrong with it is passed over by who repairs.
// False with the reason.
bool files_load_about(struct journal *journal, struct error_text *why) MUST_USE;
// What `about` is to say that it does not say yet; false for nothing.
bool files_next_about(struct journal *journal, struct about *about);

//
// Opening and closing (open.c): storage_ops of the same names
//

bool files_open(struct journal *journal, struct restored *restored,
                struct error_text *why) MUST_USE;
bool files_begin(struct journal *journal, struct error_text *why) MUST_USE;
bool files_tidy(struct journal *journal);

#endif
