/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_RECORD_READER_H
#define TANDEM_JOURNAL_PG_RECORD_READER_H

// Reads the records of a unit from the bytes of its rows. Concatenated, these are a segment; a
// record may extend over several rows.

#include "core/base/macros.h"
#include "journal/codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_reader_end {
    RECORD_READER_DONE,    // all complete records were passed on
    RECORD_READER_BAD,     // there is no valid record at `at`
    RECORD_READER_REFUSED, // the callback returned false
    RECORD_READER_NO_MEMORY
};

struct record_reader {
    uint64_t salt;
    uint64_t at;     // the offset in the unit of the next record
    char *pending;   /* private: the bytes of an incomplete record */
    size_t filled;   /* private */
    size_t capacity; /* private */
};

// A unit begins: its first record follows its head.
void record_reader_begin(struct record_reader *reader, uint64_t salt);
// Passes the records that these bytes complete to `take`, until it returns false.
enum record_reader_end
record_reader_add(struct record_reader *reader, const char *bytes, size_t len,
                  bool (*take)(void *context, const struct codec_record *record),
                  void *context) MUST_USE;
// Whether there is an incomplete record.
static inline bool record_reader_is_partial(const struct record_reader *reader)
{
    return reader->filled > 0;
}
// A zeroed reader is allowed.
void record_reader_clear(struct record_reader *reader);

#endif
