/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_EXAMINE_H
#define TANDEM_JOURNAL_FILE_EXAMINE_H

// A journal that no broker uses, read as a start with --repair would read it, to a broker that
// nobody sees; nothing of it is changed. What is lost, and what a power cut has torn, is told by
// the log as at a start: journal_lost, journal_torn, and journal_replayed at the end.

#include "core/base/macros.h"

#include <stdbool.h>
#include <stdint.h>

struct error_text;

struct journal_examined {
    uint64_t ready, delayed, buried; // jobs that a start would give back
    uint64_t queues;
    bool damaged; // a start would refuse it without --repair
};

// False with the reason: the directory is not there, another process uses it, the disk refuses,
// there is no memory, another version wrote it. Takes as much memory as the jobs do in a broker.
bool journal_examine(const char *path, struct journal_examined *examined,
                     struct error_text *why) MUST_USE;

#endif
