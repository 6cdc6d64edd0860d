/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_LEDGER_H
#define TANDEM_JOURNAL_LEDGER_H

// The books: which segment has a job's full record (the job's mark), what the full records of live
// jobs take, and how many bytes are reserved for what live jobs may still need.

#include "core/broker.h"
#include "core/record.h"
#include "journal/codec.h"
#include "journal/segment.h"

// What is reserved for a live job: its end and, unless it is buried, its burial, each with the
// record that may have to stand at the beginning of a batch.
#define RESERVED_END ((uint64_t)CODEC_END_SIZE + CODEC_NUMBER_SIZE)
#define RESERVED_BURIAL ((uint64_t)CODEC_CHANGE_SIZE + CODEC_NUMBER_SIZE)

struct ledger {
    uint64_t live;     // bytes of the full records of live jobs
    uint64_t reserved; // bytes that live jobs may still need
};

// The bytes of a job's full record, and those that are reserved for it as it stands now.
uint64_t ledger_size_of(const struct broker *broker, const struct job *job);
uint64_t ledger_reserved_for(const struct job *job);

// The job's full record, of `size` bytes, is in that segment now: marks it, and counts it. It must
// not be counted yet. The segment must have memory for its id.
void ledger_add(struct ledger *ledger, struct segment *segment, const struct job *job, size_t size);
// The job, which the books have with that size, is gone, or its full record stands elsewhere: it is
// counted no longer.
void ledger_remove(struct ledger *ledger, const struct segments *segments, const struct job *job,
                   uint64_t size);
// The record was written anew, to segment `to`.
void ledger_move(const struct segments *segments, struct segment *to, const struct job *job);
// A job has just been buried, or is buried no more.
static inline void ledger_buried(struct ledger *ledger)
{
    ledger->reserved -= RESERVED_BURIAL;
}
static inline void ledger_unburied(struct ledger *ledger)
{
    ledger->reserved += RESERVED_BURIAL;
}

// A job that the books have with one size would be written with another from now on.
static inline void ledger_resized(struct ledger *ledger, uint64_t was, uint64_t is)
{
    ledger->live += is - was;
}

// Bytes that the pauses of queues and memos take, at most.
uint64_t ledger_beside(const struct broker *broker);

#endif
