/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_CHECK_H
#define TANDEM_JOURNAL_CHECK_H

// The invariants of the journal, in one place, for tests: nothing in the program calls it. Whatever
// does not hold aborts. Holds after each turn, and once a journal has been read.

struct journal;

// Numbers that are kept as things change, counted once more: positions, ids, the row of segments,
// batches, compaction. Takes time in proportion to segments and chunks.
void journal_check(const struct journal *journal);

// The books, counted once more from the broker's jobs: which segment has each job's full record,
// live bytes, reserved bytes. Takes time in proportion to jobs.
void journal_check_ledger(const struct journal *journal);

#endif
