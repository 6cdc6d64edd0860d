/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_FILE_FILES_CHECK_H
#define TANDEM_TESTS_JOURNAL_FILE_FILES_CHECK_H

// The invariants of a journal in files, beside those of any journal
// (tests/journal/journal_check.h).

struct journal;

// Which segments have files: the spare, the segments in the list, those to be removed. Holds after
// each turn.
void journal_check_files(const struct journal *journal);

#endif
