/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_UPKEEP_H
#define TANDEM_JOURNAL_UPKEEP_H

// How the storage's upkeep goes: what it does beside writing and syncing batches, such as setting
// space aside, giving it back, and removing what is not needed.

#include "core/base/nsec.h"
#include "journal/task.h"

struct upkeep {
    nsec_t retry_at;     // none before: it failed
    uint64_t due;        // so many tasks of it may come before the next batch
    int error;           // what a task of `kind` met; 0: all is well, or told as a full disk
    enum task_kind kind; //
    bool full;           // the disk has no space for a next segment: submissions are refused
};

#endif
