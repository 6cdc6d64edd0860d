/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_JOURNAL_PRIVATE_H
#define TANDEM_JOURNAL_JOURNAL_PRIVATE_H

// Private to the journal: the functions that its sources, and its storages, offer each other.

#include "journal/journal_state.h"

// The present, by the broker's monotonic clock.
static inline nsec_t journal_present(const struct journal *journal)
{
    return broker_now(journal->broker).mono;
}

// Whether waiting clients have been given up, and jobs that end now are safe as long as this
// process lives: not if another process may take over, which does not know of them.
static inline bool journal_has_stopped_promising(const struct journal *journal)
{
    return journal->failure.given_up && !journal->storage->ops->is_lost;
}

// The smallest multiple of `unit` that is at least `number`.
static inline uint64_t journal_round_up(uint64_t number, uint64_t unit)
{
    return (number + unit - 1) / unit * unit;
}

// Counts `times` values of `value`.
void journal_histogram_count(struct journal_histogram *histogram, const int64_t *limits,
                             int64_t value, unsigned times);

//
// Turns (turn.c): batches go to the worker thread, and positions are reached
//

// Hands `slot.task` to the worker thread. Returns true: there was something to do.
bool turn_give(struct journal *journal);
// Syncs the segment as far as it is written; false for NULL.
bool turn_give_sync(struct journal *journal, struct segment *segment);
// Runs the current task to its end, or the next one if there is none. False if there is none.
bool turn_do_next(struct journal *journal);
// The pool has no chunk left: makes one available, if necessary by waiting for the storage.
void turn_make_memory(struct journal *journal);
// Whether a batch waits for more records, and until when, by settings.now.
bool turn_gathers(const struct journal *journal);
nsec_t turn_gathers_until(const struct journal *journal);
// When the mark at the end of the log is due; NSEC_NEVER: not, or something else comes first.
nsec_t end_mark_due_at(const struct journal *journal);

//
// Failures (fail.c): records that cannot be written or synced are tried again
//

// The failed task is to be tried again as it is.
void fail_again(struct journal *journal);
// The next write is not possible at present, and is to be tried again.
void fail_for_now(struct journal *journal);
// Delays the next task for a moment; nothing has failed.
void fail_wait(struct journal *journal);
// A segment could not be written or synced, or its rows are lost. In this order: logs and counts
// the failure; puts all records that are not safe back into the batches to be written, and cuts the
// segments that held them; and, once `next` is the current segment, moves those records to it.
void fail_count(struct journal *journal, const struct segment *bad);
void fail_take_back(struct journal *journal);
void fail_move_to(struct journal *journal, struct segment *next);
// When waiting clients are to be given up; NSEC_NEVER: none is. And does it when it is time.
nsec_t fail_due_at(const struct journal *journal);
void fail_review(struct journal *journal);
// The machine was suspended: the time does not count.
void fail_forgive(struct journal *journal);

//
// Compaction (compact.c): live content of the oldest segment is copied to the current one, a little
// in each turn, and the segment leaves the list. If the storage rewrites, all segments below
// `rewrite_from` are emptied before any of them leaves, and then they leave together.
//

// Does the share of one turn.
void compact_step(struct journal *journal);
// Whether it could go on at once.
bool compact_has_work(const struct journal *journal);
// Whether the segments are near their largest allowed size.
bool compact_is_behind(const struct journal *journal);
// Whether submitters should wait until compaction has caught up, which nothing prevents.
bool compact_holds_back(const struct journal *journal);

#endif
