/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_COMPACT_H
#define TANDEM_JOURNAL_COMPACT_H

// Compaction: the oldest segment is emptied, a little each turn, by appending anew what is alive in
// it, and taken out of the row. Where the storage says that it renews, segments that are unsound
// are emptied all before any of them is taken out; then all of them are, at once.

#include "core/base/nsec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct journal;

// Where compaction stands.
struct compaction {
    bool runs;
    bool blocked;      // there is no space to go on, for the present
    size_t place;      // in the row, of the segment that is being emptied
    size_t run;        // of the segment's ids
    uint64_t id;       // the next one to look at; 0: the run's first
    size_t wants;      // bytes of the record that it has no space for; 0: it has
    nsec_t retry_at;   // no more space is made for that before: the disk had none
    bool told;         // ... and that was logged
    uint64_t appended; // bytes that the core appended since compaction had its turn
};

// Does a turn's share.
void compact_step(struct journal *journal);
// Whether it would go on at once.
bool compact_has_work(const struct journal *journal);
// Whether the segments are near to what they may take at most.
bool compact_is_behind(const struct journal *journal);
// Whether who submits had better wait until that is over: nothing is in its way.
bool compact_holds_back(const struct journal *journal);

#endif
