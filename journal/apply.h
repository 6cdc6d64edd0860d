/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_APPLY_H
#define TANDEM_JOURNAL_APPLY_H

// Applies records that are read back to the broker and to the ledger.

#include "core/base/macros.h"
#include "journal/codec.h"
#include "journal/segment.h"

#include <stdint.h>

struct journal;

// The ids of the records read so far.
struct replay_ids {
    uint64_t ids_end;  // one more than the highest id
    uint64_t jobs_end; // no job was read with this id or a higher one
};

enum applied {
    APPLIED,
    APPLIED_NOT, // the record is impossible at this place
    APPLIED_NO_MEMORY
};

// Applies a record of the segment.
enum applied apply_record(struct journal *journal, struct replay_ids *seen, struct segment *segment,
                          const struct codec_record *record) MUST_USE;

#endif
