/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_MANIFEST_H
#define TANDEM_JOURNAL_FILE_MANIFEST_H

// The manifest: what is known of a journal as a whole, in a small file named "about". It names the
// youngest segment, so that its loss is noticed; where that segment's records end, if the journal
// was closed in good order, so that damage there is not mistaken for the torn end of a power
// failure; and the host on which the journal began. FORMAT.md specifies each byte.
//
// The file is replaced, never changed in place. It may name a segment that is no longer the
// youngest, but never one that did not exist. A journal without it is new or of an older version.

#include "core/base/macros.h"
#include "journal/file/disk.h"

#include <stdint.h>

#define MANIFEST_NAME "about"
#define MANIFEST_HOST_MAX 64

struct manifest {
    uint64_t youngest;                // number of a segment; 0: none yet
    uint64_t end;                     // where its records end; 0: the journal was not closed
    char host[MANIFEST_HOST_MAX + 1]; // empty: unknown
};

enum manifest_found {
    MANIFEST_GOOD,
    MANIFEST_NONE,  // the file does not exist
    MANIFEST_BAD,   // its checksum is wrong
    MANIFEST_OTHER, // written by another version
    MANIFEST_FAILED // the disk failed
};

// Reads the file. With FAILED, `*error` is an errno value; unless GOOD, `*manifest` is zeroed.
enum manifest_found manifest_load(struct manifest *manifest, const struct journal_io *io,
                                  int *error) MUST_USE;

// Replaces the file atomically. The change survives a power failure once the directory is synced. 0
// or an errno value.
int manifest_save(const struct manifest *manifest, const struct journal_io *io) MUST_USE;

#endif
