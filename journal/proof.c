/* SPDX-License-Identifier: MIT */

// What shows later that the end of the journal is missing. Each batch says how far its segment was
// synced before; behind the last one nothing would say so. So when all is synced and nobody has
// anything to record for a moment, a record of that kind is written by itself; it need not be
// synced, and is not repeated. Where batches are there as a whole or not at all, nothing is
// missing.

#include "journal/proof.h"

#include "journal/append.h"
#include "journal/space.h"

#define QUIET_FOR NSEC_PER_SEC

void proof_is_wanted(struct journal *journal)
{
    if (!journal->storage->ops->atomic) {
        journal->proof.quiet_at = nsec_add(journal_present(journal), QUIET_FOR);
    }
}

// Whether all there is has been synced, and there is space for one more record.
static bool is_quiet(const struct journal *journal)
{
    const struct segment *current = journal->row.current;

    return !journal->work.busy && !journal->closing && !journal->failure.given_up &&
           journal->failure.failing_at == NSEC_NEVER &&
           journal->position.unsynced_at == NSEC_NEVER &&
           batch_empty(&journal->batches.gathering) && batch_empty(&journal->batches.writing) &&
           batch_empty(&journal->batches.unsynced) && current->published && !current->failed &&
           current->synced == current->end && journal->batches.pool.count > 0 &&
           space_fits_current(journal, 0, 0);
}

nsec_t proof_due_at(const struct journal *journal)
{
    return journal->proof.quiet_at != NSEC_NEVER && is_quiet(journal) ? journal->proof.quiet_at
                                                                      : NSEC_NEVER;
}

void proof_step(struct journal *journal)
{
    if (journal->proof.quiet_at <= journal_present(journal) && is_quiet(journal)) {
        journal->proof.quiet_at = NSEC_NEVER;
        append_mark(journal);
    }
}

bool proof_is_all(const struct batch *batch)
{
    return batch->marked && batch->bytes == CODEC_NUMBER_SIZE;
}
