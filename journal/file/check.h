/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_CHECK_H
#define TANDEM_JOURNAL_FILE_CHECK_H

// The invariants of a journal in files, for tests, beside those of any journal (journal/check.h).

struct journal;

// Where files are: the spare, what is to be it, those on their way out. Holds after each turn.
void journal_check_files(const struct journal *journal);

#endif
