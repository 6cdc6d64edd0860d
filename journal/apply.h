/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_APPLY_H
#define TANDEM_JOURNAL_APPLY_H

// What records say, done while the journal is read: to the broker, and to the books.

#include "core/base/macros.h"
#include "journal/codec.h"
#include "journal/segment.h"

#include <stdint.h>

struct journal;

// What has been seen so far.
struct seen {
    uint64_t ids_end;  // one more than the highest id
    uint64_t jobs_end; // no job has been seen with this id, or a higher one
};

enum applied {
    APPLIED,
    APPLIED_NOT, // no record can say that
    APPLIED_NO_MEMORY
};

// Does what the record of the segment says.
enum applied apply_record(struct journal *journal, struct seen *seen, struct segment *segment,
                          const struct codec_record *record) MUST_USE;

#endif
