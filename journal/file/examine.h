/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_EXAMINE_H
#define TANDEM_JOURNAL_FILE_EXAMINE_H

// Inspects a journal that no broker uses: reads it as a start with --repair would, into a temporary
// broker, and changes nothing. Losses and torn ends are logged as at a start: journal_lost,
// journal_torn, and journal_replayed at the end.

#include "core/base/error_text.h"
#include "core/base/macros.h"

#include <stdbool.h>
#include <stdint.h>

struct journal_examined {
    uint64_t ready, delayed, buried; // jobs that a start would restore
    uint64_t queues;
    bool damaged; // a start would refuse the journal without --repair
};

// False with the reason: the directory does not exist, another process uses it, the disk fails,
// there is no memory, or another version wrote it. Takes as much memory as a broker with these
// jobs.
bool journal_examine(const char *path, struct journal_examined *examined,
                     struct error_text *why) MUST_USE;

#endif
