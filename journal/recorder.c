/* SPDX-License-Identifier: MIT */

// The journal as the core knows it: whether there is space for a record, the record itself, and the
// log position that an answer waits for.

#include "journal/append.h"
#include "journal/space.h"

static uint64_t append(void *store, const struct record *record)
{
    struct journal *journal = store;
    bool unheard = journal_has_stopped_promising(journal);

    ENSURE(journal->opened);
    if (journal->batches.pool.count == 0) {
        turn_make_memory(journal);
    }
    journal->compaction.appended += append_record(journal, record);
    journal->batches.gathering.records++;
    journal->counters.written++;
    return unheard ? 0 : journal->batches.gathering.position;
}

// Nobody may learn an id that might be given out again after a restart: those beyond what is synced
// wait for a batch that is, whatever the policy (turn.c). Each turn sees to it that there is one.
static uint64_t position_of_id(const struct journal *journal, uint64_t id)
{
    return id < journal->ids.end ? 0 : journal->batches.gathering.position;
}

static uint64_t position_of(const void *store, const struct job *job)
{
    const struct journal *journal = store;
    uint64_t id = job_id(job);

    if (!job_is_durable(job) || journal_has_stopped_promising(journal)) {
        return position_of_id(journal, id);
    }
    if (id >= journal->batches.gathering.first_id) {
        return journal->batches.gathering.position;
    }
    if (!batch_empty(&journal->batches.writing) && id >= journal->batches.writing.first_id) {
        return journal->batches.writing.position;
    }
    return 0;
}

static void info(const void *store, struct store_info *info)
{
    const struct journal *journal = store;

    *info = (struct store_info){
        .oldest = journal->row.segments.first,
        .current = journal->row.current ? journal->row.current->number : 0,
        .written = journal->counters.written,
        .migrated = journal->counters.migrated,
        .file_max = journal->settings.segment_size,
        .bytes = journal->storage->ops->bytes(journal),
        .live = journal->ledger.live + journal->ledger.reserved + ledger_beside(journal->broker),
        .errors = journal->counters.errors,
        .failing = journal->failure.given_up || journal->upkeep.full,
    };
    if (journal->storage->ops->tell) {
        journal->storage->ops->tell(journal, info);
    }
}

static bool has_space(void *store, const struct record *record)
{
    return space_is_there(store, record);
}

const struct recorder journal_recorder = {
    .has_space = has_space,
    .append = append,
    .position = position_of,
    .info = info,
};
