/* SPDX-License-Identifier: MIT */
#include "journal/journal.h"

#include "core/base/log.h"
#include "core/restore.h"
#include "journal/append.h"
#include "journal/journal_private.h"
#include "journal/space.h"

#include <stdlib.h>

// The most space that is allocated or freed at a time: it takes a moment on any disk, even if each
// block has to be written.
#define STEP_SIZE ((uint64_t)16 * 1024 * 1024)
// How often writing is tried when the journal is closed.
enum { CLOSE_TRIES = 8 };
// Timers are not precise enough for a shorter wait: the loop turns instead.
#define SPIN_MOST NSEC_PER_MSEC

void journal_discard(struct storage *storage)
{
    storage->ops->discard(storage);
}

struct journal *journal_new(const struct journal_settings *settings, struct storage *storage,
                            const struct journal_worker *worker)
{
    struct journal *journal = storage ? calloc(1, sizeof *journal) : NULL;

    if (!journal) {
        if (storage) {
            journal_discard(storage);
        }
        return NULL;
    }
    journal->settings = *settings;
    journal->settings.segment_size = space_segment_size(settings->segment_size);
    journal->settings.step_size = settings->step_size ? settings->step_size : STEP_SIZE;
    journal->storage = storage;
    journal->slot.worker = *worker;
    journal->ids.ahead = IDS_BLOCK;
    journal->failure.failing_at = NSEC_NEVER;
    journal->position.unsynced_at = NSEC_NEVER;
    journal->end_mark.quiet_at = NSEC_NEVER;
    batch_init(&journal->batches.gathering, 1);
    batch_init(&journal->batches.writing, 0);
    batch_init(&journal->batches.unsynced, 0);
    return journal;
}

//
// Opening
//

void journal_resumed(struct journal *journal)
{
    fail_forgive(journal);
}

static bool journal_nothing_waits(const struct journal *journal)
{
    return batch_empty(&journal->batches.writing) && batch_empty(&journal->batches.gathering);
}

static bool journal_is_idle(const struct journal *journal)
{
    return !journal->slot.busy && journal_nothing_waits(journal);
}

// Whether opening is to end. Closing writes everything nevertheless.
static bool journal_is_stopped(const struct journal *journal)
{
    return progress_stops(&journal->progress) && !journal->closing;
}

// Whether closing would wait for a storage that does not answer.
static bool journal_abandons_close(const struct journal *journal)
{
    const struct storage_ops *ops = journal->storage->ops;

    return journal->closing && ops->abandons_close && ops->abandons_close(journal);
}

// Runs tasks, waiting for the storage, until there is nothing left to write; false if that fails.
static bool journal_settle(struct journal *journal)
{
    unsigned failures = 0;

    while (!journal_is_idle(journal) && failures < CLOSE_TRIES && !journal_is_stopped(journal) &&
           !journal_is_lost(journal) && !journal_abandons_close(journal)) {
        uint64_t errors = journal->counters.errors;

        journal->failure.retry_at = 0;
        journal->maintenance.retry_at = 0;
        failures += !turn_do_next(journal) || journal->counters.errors > errors ||
                    journal->maintenance.full;
    }
    return journal_is_idle(journal);
}

static void journal_give_up_ownership(struct journal *journal)
{
    if (journal->storage->ops->give_up_ownership && !journal_is_stopped(journal)) {
        journal->storage->ops->give_up_ownership(journal);
    }
}

// Makes the first ids, and with them the first segment of this process, durable before any client
// is served.
static bool journal_begin(struct journal *journal, struct error_text *why)
{
    if (!space_has_memory(journal)) {
        return error_set(why, "out of memory");
    }
    append_ids(journal);
    journal->opened = true;
    if (!journal_settle(journal)) {
        error_set(why, "the first records cannot be written");
        journal_give_up_ownership(journal);
        return false;
    }
    // A disk without space for a spare is reported before any client is served.
    while (!journal->storage->ops->has_next(journal) && !journal->maintenance.full &&
           !journal_is_stopped(journal) && turn_do_next(journal)) {
    }
    return true;
}

// Enlarges the next segment for a job that is larger than a segment; true once it is large enough.
static bool journal_enlarges_next(struct journal *journal)
{
    const struct storage_ops *ops = journal->storage->ops;
    bool wanted = journal->compaction.wants > 0;

    while (wanted && ops->next_too_small(journal) && turn_do_next(journal)) {
    }
    return wanted && ops->has_next(journal) && !ops->next_too_small(journal);
}

// One step of emptying old segments. False if there is no progress.
static bool journal_rewrite_step(struct journal *journal)
{
    uint64_t migrated = journal->counters.migrated;
    size_t count = journal->segments.list.count;
    // Space will become available, unless the disk has failed.
    bool waits = journal->segments.removing || segment_is_open(journal->segments.list.items[0]) ||
                 (!journal->storage->ops->has_next(journal) && !journal->maintenance.full);
    bool waited = waits && journal->maintenance.error == 0;

    compact_step(journal);
    if (!journal_settle(journal)) {
        return false;
    }
    (void)turn_do_next(journal);
    return !journal->compaction.blocked || waited || journal->counters.migrated > migrated ||
           journal->segments.list.count < count || journal_enlarges_next(journal);
}

// Rewrites all live content, so that the damaged segments are not needed.
static bool journal_rewrite_damaged(struct journal *journal, struct error_text *why)
{
    journal->segments.rewrite_from = journal->segments.current->number;
    while (segments_need_rewrite(&journal->segments) || journal->segments.removing) {
        // This is progress, although nothing is read.
        progress_add(&journal->progress, 1);
        if (journal_is_stopped(journal) || !journal_rewrite_step(journal)) {
            error_set(why, "the live jobs of the damaged journal cannot be rewritten");
            journal_give_up_ownership(journal);
            return false;
        }
    }
    return true;
}

bool journal_open(struct journal *journal, struct broker *broker, struct error_text *why)
{
    const struct storage_ops *ops = journal->storage->ops;
    struct restored restored = {0};
    uint64_t next;

    journal->broker = broker;
    if (!ops->open(journal, &restored, why)) {
        return false;
    }
    // Ids continue with a new block: it is unknown how many of the last one were given out.
    next = journal_round_up(restored.ids_end, IDS_BLOCK);
    if (broker_restore_finish(broker, next ? next : 1) != STATUS_OK) {
        return error_set(why, "out of memory");
    }
    return ops->begin(journal, why) && journal_begin(journal, why) &&
           (!restored.damaged || journal_rewrite_damaged(journal, why));
}

void journal_progress(const struct journal *journal, struct restore_progress *progress)
{
    const struct opening_counters *now = &journal->progress;
    uint64_t read = atomic_load_explicit(&now->read, memory_order_relaxed);
    uint64_t size = atomic_load_explicit(&now->size, memory_order_relaxed);

    *progress = (struct restore_progress){
        // The torn end that a crash leaves is read more than once.
        .read = read < size ? read : size,
        .size = size,
        .jobs = atomic_load_explicit(&now->jobs, memory_order_relaxed),
    };
}

void journal_stop_opening(struct journal *journal)
{
    atomic_store_explicit(&journal->progress.stop, true, memory_order_relaxed);
}

//
// Running
//

const char *journal_host(const struct journal *journal)
{
    return journal->storage->ops->host(journal);
}

const struct journal_stats *journal_stats(const struct journal *journal)
{
    return &journal->stats;
}

uint64_t journal_segments(const struct journal *journal)
{
    return journal->segments.list.count;
}

uint64_t journal_reached(const struct journal *journal)
{
    return journal->position.reached;
}

static nsec_t journal_sooner(nsec_t a, nsec_t b)
{
    return a < b ? a : b;
}

// No task is given to the worker thread before failed writes are tried again.
static nsec_t journal_maintenance_at(const struct journal *journal)
{
    const struct storage_ops *ops = journal->storage->ops;
    nsec_t at = ops->maintenance_due_at ? ops->maintenance_due_at(journal) : NSEC_NEVER;

    return at > journal->failure.retry_at ? at : journal->failure.retry_at;
}

nsec_t journal_next_due(const struct journal *journal)
{
    nsec_t now = journal_present(journal);
    nsec_t due_at = fail_due_at(journal);

    // Nothing will be written any more.
    if (journal_is_lost(journal)) {
        return due_at;
    }
    if (compact_has_work(journal)) {
        return now;
    }
    if (journal->slot.busy) {
        return due_at;
    }
    due_at = journal_sooner(due_at, journal_maintenance_at(journal));
    if (turn_gathers(journal)) {
        nsec_t until_at = turn_gathers_until(journal);

        return until_at - now < SPIN_MOST ? now : journal_sooner(due_at, until_at);
    }
    if (journal->failure.retry_at > now) {
        due_at = journal_sooner(due_at, journal->failure.retry_at);
    } else if (!segment_is_open(journal->segments.current) && journal->maintenance.retry_at > now) {
        due_at = journal_sooner(due_at, journal->maintenance.retry_at);
    } else if (!batch_empty(&journal->batches.writing) ||
               !batch_empty(&journal->batches.gathering)) {
        return now;
    }
    if (journal->maintenance.retry_at > now) {
        due_at = journal_sooner(due_at, journal->maintenance.retry_at);
    }
    if (journal->compaction.wants && journal->compaction.retry_at > now) {
        due_at = journal_sooner(due_at, journal->compaction.retry_at);
    }
    if (journal->position.unsynced_at != NSEC_NEVER) {
        nsec_t sync_at = nsec_add(journal->position.unsynced_at, journal->settings.sync_every_for);

        due_at = journal_sooner(
            due_at, sync_at > journal->failure.retry_at ? sync_at : journal->failure.retry_at);
    }
    return journal_sooner(due_at, end_mark_due_at(journal));
}

enum journal_pressure journal_pressure(const struct journal *journal)
{
    size_t pending = journal->batches.gathering.bytes + journal->batches.writing.bytes;

    if (space_memory_is_low(journal)) {
        return JOURNAL_STUCK;
    }
    if (journal->failure.given_up) {
        return JOURNAL_EASY;
    }
    if (pending > journal->settings.max_pending || space_overflows(journal) ||
        compact_holds_back(journal)) {
        return JOURNAL_BEHIND;
    }
    return JOURNAL_EASY;
}

//
// Closing
//

// Rewrites content that only this process has, if the storage needs that. False if it fails.
static bool journal_rewrite_rest(struct journal *journal)
{
    unsigned idle = 0;

    while (journal->storage->ops->rewrites && segments_need_rewrite(&journal->segments)) {
        const struct compaction before = journal->compaction;
        uint64_t migrated = journal->counters.migrated;

        // A write shows whether the failure lasts: without records to write, that of a mark.
        if (journal->failure.failing_at != NSEC_NEVER && journal_nothing_waits(journal)) {
            append_mark(journal);
        }
        if (journal_abandons_close(journal) || journal_is_lost(journal) || idle == CLOSE_TRIES ||
            !journal_rewrite_step(journal)) {
            return false;
        }
        idle = journal->counters.migrated > migrated || journal->compaction.id != before.id ||
                       journal->compaction.run != before.run ||
                       journal->compaction.place != before.place
                   ? 0
                   : idle + 1;
    }
    return true;
}

static void journal_report_loss(const struct journal *journal)
{
    uint64_t jobs = 0;

    for (size_t i = 0; i < journal->segments.list.count; i++) {
        const struct segment *segment = journal->segments.list.items[i];

        jobs += segment->number < journal->segments.rewrite_from ? segment->jobs : 0;
    }
    log_error("journal_not_renewed", log_number("jobs", (int64_t)jobs),
              log_string("note",
                         "lost rows were not rewritten: jobs of these that the database does "
                         "not have are lost"));
}

// The last step may find that written content is gone: then all is done again.
static bool journal_finish(struct journal *journal)
{
    bool good = false;
    bool tidy = false;

    journal->closing = true;
    for (unsigned tries = 0; tries < CLOSE_TRIES && !tidy; tries++) {
        good = journal_settle(journal) && journal_rewrite_rest(journal) && journal_settle(journal);
        if (good && journal->position.synced < journal->position.reached) {
            struct task task = {.kind = TASK_SYNC,
                                .segment = segments_syncable(&journal->segments)};

            good = task.segment && slot_run(&journal->slot, &task) == 0;
        }
        if (journal->slot.busy) {
            slot_wait(&journal->slot);
        }
        tidy = !good || journal->storage->ops->tidy(journal);
    }
    good &= tidy;
    if (journal->storage->ops->rewrites && segments_need_rewrite(&journal->segments) &&
        !journal_is_lost(journal)) {
        journal_report_loss(journal);
        return false;
    }
    // The task that could not be completed may be one of maintenance.
    return good || (journal_abandons_close(journal) && journal_nothing_waits(journal));
}

bool journal_close(struct journal *journal)
{
    bool good = true;

    if (!journal) {
        return true;
    }
    if (journal->opened) {
        good = !journal_is_lost(journal) && journal_finish(journal);
    }
    if (journal->slot.busy) {
        slot_wait(&journal->slot);
    }
    journal->storage->ops->free(journal);
    batch_drop(&journal->batches.gathering, &journal->batches.pool);
    batch_drop(&journal->batches.writing, &journal->batches.pool);
    batch_drop(&journal->batches.unsynced, &journal->batches.pool);
    chunk_pool_clear(&journal->batches.pool);
    segment_list_clear(&journal->segments.list);
    segment_free(journal->segments.replacement);
    segment_free(journal->segments.removing);
    free(journal);
    return good;
}

//
// The recorder: the journal as the core knows it
//

static uint64_t recorder_append(void *store, const struct record *record)
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

static uint64_t recorder_position_of(const void *store, const struct job *job)
{
    const struct journal *journal = store;
    uint64_t id = job_id(job);

    if (!job_is_durable(job) || journal_has_stopped_promising(journal)) {
        // No client may learn an id that could be given out again after a restart: an id beyond the
        // synced blocks waits for a batch that is synced whatever the policy (turn.c). Each turn
        // makes sure that there is one.
        return id < journal->ids.end ? 0 : journal->batches.gathering.position;
    }
    if (id >= journal->batches.gathering.first_id) {
        return journal->batches.gathering.position;
    }
    if (!batch_empty(&journal->batches.writing) && id >= journal->batches.writing.first_id) {
        return journal->batches.writing.position;
    }
    return 0;
}

static void recorder_info(const void *store, struct store_info *info)
{
    const struct journal *journal = store;

    *info = (struct store_info){
        .oldest = journal->segments.list.first,
        .current = journal->segments.current ? journal->segments.current->number : 0,
        .written = journal->counters.written,
        .migrated = journal->counters.migrated,
        .file_max = journal->settings.segment_size,
        .bytes = journal->storage->ops->bytes(journal),
        .live =
            journal->ledger.live + journal->ledger.reserved + ledger_other_bytes(journal->broker),
        .errors = journal->counters.errors,
        .failing = journal->failure.given_up || journal->maintenance.full,
    };
    if (journal->storage->ops->info) {
        journal->storage->ops->info(journal, info);
    }
}

static bool recorder_has_space(void *store, const struct record *record)
{
    return space_is_there(store, record);
}

const struct recorder journal_recorder = {
    .has_space = recorder_has_space,
    .append = recorder_append,
    .position = recorder_position_of,
    .info = recorder_info,
};
