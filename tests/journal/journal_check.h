/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_JOURNAL_CHECK_H
#define TANDEM_TESTS_JOURNAL_JOURNAL_CHECK_H

// The invariants of the journal. A violation aborts. They hold after each turn, and once a journal
// has been read.

struct journal;

// Counts redundant values again: positions, ids, segments, batches, compaction. Takes time in
// proportion to segments and chunks.
void journal_check(const struct journal *journal);

// Counts the ledger again from the broker's jobs: the segment of each job's full record, live
// bytes, reserved bytes. Takes time in proportion to jobs.
void journal_check_ledger(const struct journal *journal);

#endif
