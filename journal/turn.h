/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_TURN_H
#define TANDEM_JOURNAL_TURN_H

// The turn: batches go to the worker thread and come back, and log positions are reached.

#include "core/base/nsec.h"
#include "journal/batch.h"

struct journal;

// Log positions: numbers of batches.
struct positions {
    uint64_t reached;   // up to here who waits may be told
    uint64_t synced;    // up to here everything is synced
    nsec_t unsynced_at; // since when something written is not synced; NSEC_NEVER: all is
};

// How long a batch waits for more to come.
struct pace {
    nsec_t written_at; // when the last batch was done, by settings.now
    nsec_t took_for;   // and how long that took
    uint64_t expected; // so many records may be in the next batch, if those who were told hand in
                       // as much again
};

// Hands `work.task` over. Always true: there was something to do.
bool turn_give(struct journal *journal);
// Has the segment synced, as far as it is written; false for NULL.
bool turn_give_sync(struct journal *journal, struct segment *segment);
void turn_take_in(struct journal *journal);
void turn_hand_over(struct journal *journal);
// Has the next task done, and waits for it; the one that is being done, where there is one. False
// where there is none.
bool turn_do_next(struct journal *journal);
// The pool has no chunk left: sees to one, if need be by waiting for the disk.
void turn_make_memory(struct journal *journal);
// Until when a batch waits for more to come, by settings.now.
nsec_t turn_gathers_until(const struct journal *journal);
bool turn_gathers(const struct journal *journal);

#endif
