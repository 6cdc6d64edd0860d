/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PROOF_H
#define TANDEM_JOURNAL_PROOF_H

// Proof that nothing is missing at the end of the journal: a record, written when all is synced and
// nobody has anything to record for a moment, which says how far the current segment is synced.

#include "core/base/nsec.h"
#include "journal/batch.h"

struct journal;

struct proof {
    nsec_t quiet_at; // when what was synced last is to be proved; NSEC_NEVER: it need not be
};

// All that was written is synced: if nothing comes for a moment, that is to be said.
void proof_is_wanted(struct journal *journal);
// When it is; NSEC_NEVER: something else must come first. And does it, when it is time.
nsec_t proof_due_at(const struct journal *journal);
void proof_step(struct journal *journal);
// Whether the batch has nothing else in it: nobody waits for that.
bool proof_is_all(const struct batch *batch);

#endif
