/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_SPACE_H
#define TANDEM_JOURNAL_SPACE_H

// Space: whether a record that may be refused can be taken, and to which segment records go.
//
// The current segment keeps space for all reserved bytes. Where a record does not fit in beside
// them, the storage is asked for another segment, or for more space.

#include "core/record.h"
#include "journal/journal_private.h"

// What may be refused leaves so much for what nothing was reserved for and nobody can do without:
// records about ids and emptied segments, and the beginning of another segment where the process is
// started anew on a full disk.
#define SPACE_SLACK ((uint64_t)16 * 1024)

// Sizes of segments are multiples of this.
#define SEGMENT_UNIT UINT64_C(4096)

// Whether a segment that is used up to `end` has space for a record of `size` bytes, beside what is
// reserved and `beside` more.
static inline bool space_fits(const struct journal *journal, const struct segment *segment,
                              uint64_t end, uint64_t size, uint64_t beside)
{
    return end + size + CODEC_NUMBER_SIZE + journal->ledger.reserved + beside <= segment->size;
}

static inline bool space_fits_current(const struct journal *journal, uint64_t size, uint64_t beside)
{
    return space_fits(journal, journal->row.current, journal->row.current->end, size, beside);
}

// Whether the memory is there that an append may need.
bool space_has_memory(struct journal *journal);
bool space_memory_is_low(const struct journal *journal);
// The size that segments have where so much is asked for: space for any record but a job's is
// there.
uint64_t space_segment_size(uint64_t asked);
// Whether compaction may write a record of that size.
bool space_to_copy(const struct journal *journal, size_t size);
// Whether it may say that a segment is empty.
bool space_to_drop(const struct journal *journal);
// Whether the core may append the record.
bool space_is_there(struct journal *journal, const struct record *record);
// Goes on to another segment where the record does not fit into the current one. `extra` is what it
// adds to the reserved bytes.
void space_choose(struct journal *journal, size_t size, uint64_t extra);
// Whether more was appended than the current segment has set aside beside its reserved bytes.
bool space_overflows(const struct journal *journal);

#endif
