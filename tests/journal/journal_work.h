/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_JOURNAL_WORK_H
#define TANDEM_TESTS_JOURNAL_JOURNAL_WORK_H

// Work for a journal on a bed (journal_bed.h). Whatever the disk does meanwhile, verbs are accepted
// or refused; that the broker and its books stay right is asserted on the way.

#include "tests/journal/journal_bed.h"

// Some hundred verbs of every kind, over several of the smallest segments, with compaction on the
// way. Always the same.
void work_a_while(struct bed *bed);

// `count` verbs, turns and pauses by chance. `*dice` is the state of a generator, not 0.
void work_at_random(struct bed *bed, uint64_t *dice, unsigned count);
// The same with few jobs, which are buried, kicked, taken and released again and again: most
// records are changes, so that what comes back shows whether one is missing, or an older one came
// later.
void work_on_few(struct bed *bed, uint64_t *dice, unsigned count);

#endif
