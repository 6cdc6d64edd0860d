/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_SPACE_H
#define TANDEM_JOURNAL_SPACE_H

// Accounting of space: the ledger knows which segment has a job's full record (the job's mark), how
// many bytes the full records of live jobs take, and how many are reserved for records that live
// jobs may still need. From that follows whether a record may be appended, and to which segment.
//
// The current segment keeps space for all reserved bytes. If a record does not fit beside them, the
// storage is asked for another segment or for more space.

#include "core/record.h"
#include "journal/journal_private.h"

// Reserved for a live job: its end and, unless it is buried, its burial, each with the record that
// may have to stand at the beginning of a batch.
#define RESERVED_END ((uint64_t)CODEC_END_SIZE + CODEC_NUMBER_SIZE)
#define RESERVED_BURIAL ((uint64_t)CODEC_CHANGE_SIZE + CODEC_NUMBER_SIZE)

// Records that may be refused leave this much for records without a reservation that are
// indispensable: blocks of ids, emptied segments, and the beginning of another segment when the
// process starts again on a full disk.
#define SPACE_SLACK ((uint64_t)16 * 1024)

// Sizes of segments are multiples of this.
#define SEGMENT_UNIT UINT64_C(4096)

//
// The ledger
//

// The bytes of a job's full record, and the bytes reserved for the job in its present state.
uint64_t ledger_size_of(const struct broker *broker, const struct job *job);
uint64_t ledger_reserved_for(const struct job *job);

// Counts a job whose full record, of `size` bytes, is now in that segment, and marks the job. The
// segment must have memory for its id.
void ledger_add(struct ledger *ledger, struct segment *segment, const struct job *job, size_t size);
// Removes a job that was counted with that size: it has ended, or its full record is elsewhere.
void ledger_remove(struct ledger *ledger, const struct segment_list *segments,
                   const struct job *job, uint64_t size);
// The full record was copied to segment `to`.
void ledger_move(const struct segment_list *segments, struct segment *to, const struct job *job);
// A job has been buried, or is no longer buried.
static inline void ledger_buried(struct ledger *ledger)
{
    ledger->reserved -= RESERVED_BURIAL;
}
static inline void ledger_unburied(struct ledger *ledger)
{
    ledger->reserved += RESERVED_BURIAL;
}
// The size of a job's full record has changed.
static inline void ledger_resized(struct ledger *ledger, uint64_t was, uint64_t is)
{
    ledger->live += is - was;
}

// Most bytes that memos and the pauses of queues take.
uint64_t ledger_other_bytes(const struct broker *broker);

//
// Space for a record
//

// Whether a segment that is used up to `end` has space for a record of `size` bytes beside the
// reserved bytes and `beside` more.
static inline bool space_fits(const struct journal *journal, const struct segment *segment,
                              uint64_t end, uint64_t size, uint64_t beside)
{
    return end + size + CODEC_NUMBER_SIZE + journal->ledger.reserved + beside <= segment->size;
}

static inline bool space_fits_current(const struct journal *journal, uint64_t size, uint64_t beside)
{
    const struct segment *current = journal->segments.current;

    return space_fits(journal, current, current->end, size, beside);
}

// Makes sure that the memory is there that appending may need; false without it.
bool space_has_memory(struct journal *journal);
bool space_memory_is_low(const struct journal *journal);
// The segment size for a configured one: enough for any record but a job's.
uint64_t space_segment_size(uint64_t asked);
// Whether compaction may append a record of that size.
bool space_to_copy(const struct journal *journal, size_t size);
// Whether compaction may record that a segment is empty.
bool space_to_drop(const struct journal *journal);
// Whether the core may append the record.
bool space_is_there(struct journal *journal, const struct record *record);
// Moves to another segment if the record does not fit into the current one. `extra` is what it adds
// to the reserved bytes.
void space_choose(struct journal *journal, size_t size, uint64_t extra);
// Whether more was appended than the current segment has allocated beside its reserved bytes.
bool space_overflows(const struct journal *journal);

#endif
