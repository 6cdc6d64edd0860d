/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_ABOUT_H
#define TANDEM_JOURNAL_FILE_ABOUT_H

// What is known of a journal as a whole, in a small file of its own: which segment is the youngest,
// so that its loss shows, where its records end if the journal was closed in good order, so that
// damage there is not taken for the torn end of a power cut, and the name of the host on which the
// journal began. FORMAT.md says what each byte means.
//
// The file is replaced, never changed. It says what has been so since: it may know of a segment
// that is not the youngest any more, but never of one that was not there. A journal without it is
// one of an older version, or a new one.

#include "core/base/macros.h"
#include "journal/file/io.h"

#include <stdint.h>

#define ABOUT_NAME "about"
#define ABOUT_HOST_MAX 64

struct about {
    uint64_t youngest;             // number of a segment; 0: none yet
    uint64_t end;                  // where its records end; 0: it was not closed
    char host[ABOUT_HOST_MAX + 1]; // empty: unknown
};

enum about_found {
    ABOUT_GOOD,
    ABOUT_NONE,  // there is no such file
    ABOUT_BAD,   // it does not check
    ABOUT_OTHER, // written by another version
    ABOUT_FAILED // the disk failed
};

// Reads the file. With FAILED, `*error` is an errno value; unless GOOD, `*about` is zeroed.
enum about_found about_load(struct about *about, const struct journal_io *io, int *error) MUST_USE;

// Replaces the file. The new one is whole whatever happens; that it is the new one survives a power
// cut once the directory is synced. 0 or an errno value.
int about_save(const struct about *about, const struct journal_io *io) MUST_USE;

#endif
