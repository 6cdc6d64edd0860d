/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_FEED_H
#define TANDEM_JOURNAL_PG_FEED_H

// The records of a unit, out of its rows: one behind the other these are a segment, and where one
// row ends and the next begins has no meaning. A record may be in several rows.

#include "core/base/macros.h"
#include "journal/codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum feed_end {
    FEED_DONE,    // all records that are whole were handed on
    FEED_BAD,     // what stands at `at` is no record that checks
    FEED_REFUSED, // whom they are handed to said no
    FEED_NO_MEMORY
};

struct feed {
    uint64_t salt;
    uint64_t at;     // where in the unit the next record begins
    char *pending;   /* private: what is there of it */
    size_t filled;   /* private */
    size_t capacity; /* private */
};

// The unit begins: its records are expected behind its head.
void feed_begin(struct feed *feed, uint64_t salt);
// Hands on the records that these bytes complete, as long as `take` returns true.
enum feed_end feed_rows(struct feed *feed, const char *bytes, size_t len,
                        bool (*take)(void *context, const struct codec_record *record),
                        void *context) MUST_USE;
// Whether a record has begun and is not whole.
static inline bool feed_is_within(const struct feed *feed)
{
    return feed->filled > 0;
}
// A zeroed feed is allowed.
void feed_clear(struct feed *feed);

#endif
