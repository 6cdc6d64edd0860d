/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_UPKEEP_H
#define TANDEM_JOURNAL_FILE_UPKEEP_H

// Upkeep of the files: a spare is made, space is set aside and given back, files are removed.

#include "journal/file/files.h"

// storage_ops of the same names.
bool upkeep_give(struct journal *journal);
void upkeep_take_in(struct journal *journal);
uint64_t upkeep_after(const struct journal *journal, uint64_t bytes);

// A piece of making the segment larger, for what is to be written to it. Always true.
bool upkeep_make_larger(struct journal *journal, struct segment *segment);
// The disk is not full any more, if it was.
void upkeep_has_space(struct journal *journal);

#endif
