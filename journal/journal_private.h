/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PRIVATE_H
#define TANDEM_JOURNAL_PRIVATE_H

// Private to the journal: its state, each part of which belongs to the header that declares it.
// Functions that need only a part take that; those that take the journal bring parts together.

#include "core/broker.h"
#include "journal/batch.h"
#include "journal/compact.h"
#include "journal/fail.h"
#include "journal/figures.h"
#include "journal/ids.h"
#include "journal/journal.h"
#include "journal/ledger.h"
#include "journal/progress.h"
#include "journal/proof.h"
#include "journal/row.h"
#include "journal/storage.h"
#include "journal/turn.h"
#include "journal/upkeep.h"
#include "journal/work.h"

struct counters {
    uint64_t written;  // records that came from the core
    uint64_t migrated; // jobs that were written anew
    uint64_t errors;
};

struct journal {
    struct journal_settings settings; // segment_size is what it has come to
    struct storage *storage;
    struct broker *broker;
    struct progress progress; // of journal_open()
    bool opened;              // from now on the core appends
    bool closing;             // from now on everything is synced

    struct row row;
    struct batches batches;
    struct positions position;
    struct work work;
    struct ledger ledger;
    struct ids ids;
    struct pace pace;
    struct failure failure;
    struct upkeep upkeep;
    struct compaction compaction;
    struct proof proof;
    struct counters counters;
    struct journal_figures figures;
};

// The present, by the broker's monotonic clock.
static inline nsec_t journal_present(const struct journal *journal)
{
    return broker_now(journal->broker).mono;
}

// Whether another process has what it is kept in.
static inline bool journal_has_lost(const struct journal *journal)
{
    const struct storage_ops *ops = journal->storage->ops;

    return ops->is_lost && ops->is_lost(journal);
}

// Whether nobody waits any more for what cannot be written: what ends now is safe as long as this
// process lives. Not where another may take over, which knows nothing of it.
static inline bool journal_has_stopped_promising(const struct journal *journal)
{
    return journal->failure.given_up && !journal->storage->ops->is_lost;
}

// The next multiple of `unit` that is no less.
static inline uint64_t journal_round_up(uint64_t number, uint64_t unit)
{
    return (number + unit - 1) / unit * unit;
}

#endif
