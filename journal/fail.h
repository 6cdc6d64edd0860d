/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FAIL_H
#define TANDEM_JOURNAL_FAIL_H

// What is done when records cannot be written or synced: trying again, with another segment, and
// giving up those who wait when that lasts.

#include "core/base/nsec.h"

#include <stdbool.h>

struct journal;

struct failure {
    nsec_t failing_at;  // since when nothing can be written; NSEC_NEVER: all is well
    nsec_t retry_at;    // nothing is tried before
    nsec_t given_up_at; // when those who waited were given up last
    unsigned count;     // of failures to write, in a row
    bool given_up;      // submissions are refused until something succeeds
    bool gave_up;       // that has not been told yet
};

// The worker thread could not write, or sync: another segment takes over.
void fail_segment(struct journal *journal);
// It could not, and what it has is to be tried again as it is.
void fail_again(struct journal *journal);
// What is to be written cannot be at present: that is tried again.
void fail_for_now(struct journal *journal);
// Nothing is tried for a moment; nothing has failed yet.
void fail_wait(struct journal *journal);
// When those who wait are given up, once more perhaps; NSEC_NEVER where nobody is. And does it,
// when it is time.
nsec_t fail_due_at(const struct journal *journal);
void fail_review(struct journal *journal);
// The machine was suspended, and nothing could succeed meanwhile: that is not counted.
void fail_forgive(struct journal *journal);

#endif
