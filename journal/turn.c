/* SPDX-License-Identifier: MIT */

// The turn of the journal: takes in the result of the worker thread's task and gives it the next
// one. Batches come first, but after each batch some tasks of maintenance may run, which a busy
// broker would otherwise never get to.
//
// The way of a record from the change to the answer:
//
//   recorder_append()   in journal.c: the record joins the batch that is gathered; the answer waits
//                       for the number of that batch, its log position
//   turn_write_batch()  at the end of the turn, the batch goes to the worker thread
//   task_run_write()    in file/files_task.c, on that thread: checksums, write, fsync (in a
//                       database, worker_run_write() in pg/pg_worker.c); then it wakes the loop
//   turn_written()      in the next turn: the position is reached
//   journal_reached()   the loop asks for the position, and lets the answer leave

#include "core/base/log.h"
#include "journal/append.h"
#include "journal/journal_private.h"
#include "journal/space.h"

//
// The mark at the end of the log
//

// Each batch says how far its segment was synced before it; after the last batch nothing would, and
// its loss would not be noticed. So when everything is synced and nothing is recorded for a moment,
// a SYNCED record is written alone. It need not be synced, and is not repeated. If the storage is
// atomic, no part of the log can be missing.
#define END_MARK_AFTER NSEC_PER_SEC

// Whether everything is synced, and there is space for one more record.
static bool end_mark_is_possible(const struct journal *journal)
{
    const struct segment *current = journal->segments.current;

    return !journal->slot.busy && !journal->closing && !journal->failure.given_up &&
           journal->failure.failing_at == NSEC_NEVER &&
           journal->position.unsynced_at == NSEC_NEVER &&
           batch_empty(&journal->batches.gathering) && batch_empty(&journal->batches.writing) &&
           batch_empty(&journal->batches.unsynced) && current->state == SEGMENT_PUBLISHED &&
           current->synced == current->end && journal->batches.pool.count > 0 &&
           space_fits_current(journal, 0, 0);
}

nsec_t end_mark_due_at(const struct journal *journal)
{
    return journal->end_mark.quiet_at != NSEC_NEVER && end_mark_is_possible(journal)
               ? journal->end_mark.quiet_at
               : NSEC_NEVER;
}

static void end_mark_step(struct journal *journal)
{
    if (journal->end_mark.quiet_at <= journal_present(journal) && end_mark_is_possible(journal)) {
        journal->end_mark.quiet_at = NSEC_NEVER;
        append_mark(journal);
    }
}

static bool end_mark_alone(const struct log_batch *batch)
{
    return batch->marked && batch->bytes == CODEC_NUMBER_SIZE;
}

//
// Batches
//

// A batch waits for more records for a share of the duration of the last write, given by the
// storage, but no longer than GATHER_MOST, and no shorter than GATHER_LEAST unless the write was.
#define GATHER_MOST (100 * NSEC_PER_MSEC)
#define GATHER_LEAST (300 * NSEC_PER_MSEC / 1000)

bool turn_give(struct journal *journal)
{
    struct task_slot *slot = &journal->slot;

    slot->busy = true;
    slot->begun_at = journal_present(journal);
    slot->worker.give(slot->worker.self, &slot->task);
    return true;
}

bool turn_give_sync(struct journal *journal, struct segment *segment)
{
    journal->slot.task = (struct task){.kind = TASK_SYNC, .segment = segment};
    return segment && turn_give(journal);
}

// With `always`, the clients just answered will soon submit more, and one sync should serve all of
// them: a short wait costs less than a sync that half of them miss.
bool turn_gathers(const struct journal *journal)
{
    return journal->settings.sync_every_for == 0 && !journal->closing &&
           !batch_empty(&journal->batches.gathering) &&
           journal->batches.gathering.records < journal->pace.expected &&
           journal->settings.now() < turn_gathers_until(journal);
}

nsec_t turn_gathers_until(const struct journal *journal)
{
    nsec_t wait_for = journal->pace.took_for / journal->storage->ops->gather_share;

    if (wait_for < GATHER_LEAST) {
        wait_for = GATHER_LEAST < journal->pace.took_for ? GATHER_LEAST : journal->pace.took_for;
    }
    wait_for = wait_for < GATHER_MOST ? wait_for : GATHER_MOST;
    return journal->pace.written_at + wait_for;
}

static bool turn_sync_is_due(const struct journal *journal)
{
    // Whatever the policy, a block of ids is synced well before the first of them is given out. If
    // memory runs out, unsynced batches are synced early, so that their chunks are free again.
    return ids_wait(&journal->ids) ||
           (!batch_empty(&journal->batches.unsynced) && space_memory_is_low(journal)) ||
           journal->batches.unsynced.bytes > journal->settings.max_pending / 2 ||
           (journal->position.unsynced_at != NSEC_NEVER &&
            journal->settings.sync_every_for != NSEC_NEVER &&
            nsec_add(journal->position.unsynced_at, journal->settings.sync_every_for) <=
                journal_present(journal));
}

static bool turn_write_batch(struct journal *journal)
{
    bool always = journal->settings.sync_every_for == 0;
    bool waits;

    if (batch_empty(&journal->batches.writing)) {
        if (batch_empty(&journal->batches.gathering) || turn_gathers(journal)) {
            return false;
        }
        journal->batches.writing = journal->batches.gathering;
        journal->batches.writing.ids_end = journal->ids.asked;
        batch_init(&journal->batches.gathering, journal->batches.writing.position + 1);
    }
    // Once the current segment is published, no other segment is written to.
    if ((!segment_is_published(journal->segments.current) || space_overflows(journal)) &&
        journal->storage->ops->before_write(journal)) {
        return true;
    }
    batch_say_synced(&journal->batches.writing, journal->batches.writing.head->segment->synced);
    waits = always && !end_mark_alone(&journal->batches.writing);
    journal->slot.task =
        (struct task){.kind = TASK_WRITE,
                      .batch = &journal->batches.writing,
                      .before = segments_last_written(&journal->segments),
                      .sync = waits || journal->closing || append_ids_short(journal),
                      .size = always ? journal->storage->ops->write_ahead : 0};
    return turn_give(journal);
}

// Gives the next task if the worker thread is idle.
static void turn_hand_over(struct journal *journal)
{
    const struct storage_ops *ops = journal->storage->ops;
    bool keeps_up = journal->maintenance.due > 0;

    if (journal->slot.busy || journal_present(journal) < journal->failure.retry_at) {
        return;
    }
    if (!segments_make_room(&journal->segments)) {
        fail_wait(journal);
        return;
    }
    if (!segment_is_open(journal->segments.current) && !ops->can_write(journal)) {
        (void)ops->maintain(journal);
        return;
    }
    if (keeps_up && ops->maintain(journal)) {
        journal->maintenance.due--;
        return;
    }
    // Maintenance without a task now has no claim to the time before the next batch.
    journal->maintenance.due = 0;
    if (turn_sync_is_due(journal) &&
        turn_give_sync(journal, segments_syncable(&journal->segments))) {
        return;
    }
    if (!turn_write_batch(journal) && !keeps_up) {
        (void)ops->maintain(journal);
    }
}

//
// Results of tasks
//

static void turn_succeeded(struct journal *journal)
{
    if (journal->failure.failing_at != NSEC_NEVER) {
        log_warn("journal_recovered",
                 log_number("segment", (int64_t)journal->segments.current->number));
    }
    journal->failure.failing_at = NSEC_NEVER;
    journal->failure.count = 0;
    journal->failure.given_up = false;
    if (journal->maintenance.full) {
        journal->storage->ops->has_written(journal);
    }
}

// Everything that was written is synced.
static void turn_all_synced(struct journal *journal)
{
    batch_drop(&journal->batches.unsynced, &journal->batches.pool);
    journal->position.synced = journal->position.reached;
    journal->position.unsynced_at = NSEC_NEVER;
    journal->ids.end = journal->ids.written;
    if (!journal->storage->ops->atomic) {
        journal->end_mark.quiet_at = nsec_add(journal_present(journal), END_MARK_AFTER);
    }
}

// Written batches are kept until they are synced. If this one has to be written again, to another
// segment, what it says of how far its segment is synced would be wrong there.
static void turn_keep_unsynced(struct journal *journal)
{
    struct log_batch *batch = &journal->batches.writing;

    if (journal->settings.sync_every_for == NSEC_NEVER) {
        batch_drop(batch, &journal->batches.pool);
        return;
    }
    batch_say_synced(batch, 0);
    batch_pack(&journal->batches.unsynced, batch, &journal->batches.pool);
}

static void turn_written(struct journal *journal)
{
    struct log_batch *batch = &journal->batches.writing;
    bool all_safe = journal->position.synced == journal->position.reached && end_mark_alone(batch);

    journal->stats.batches++;
    journal_histogram_count(&journal->stats.batch_records, journal_record_buckets,
                            (int64_t)batch->records, 1);
    journal->position.reached = batch->position;
    journal->ids.written = batch->ids_end;
    journal->pace.expected = batch->records + journal->batches.gathering.records;
    journal->pace.written_at = journal->settings.now();
    journal->pace.took_for = journal->slot.task.took_for;
    journal->maintenance.due = journal->storage->ops->maintenance_share(journal, batch->bytes);
    if (journal->slot.task.sync) {
        batch_drop(batch, &journal->batches.pool);
        turn_all_synced(journal);
    } else {
        turn_keep_unsynced(journal);
        if (all_safe) {
            journal->position.synced = journal->position.reached;
        } else if (journal->position.unsynced_at == NSEC_NEVER) {
            journal->position.unsynced_at = journal_present(journal);
        }
    }
    batch_init(batch, 0);
    turn_succeeded(journal);
}

static void turn_take_in(struct journal *journal)
{
    const struct task *task = &journal->slot.task;

    if (!journal->slot.busy || !slot_done(&journal->slot)) {
        return;
    }
    journal->slot.busy = false;
    if (task->syncs > 0) {
        journal_histogram_count(&journal->stats.syncs, journal_sync_buckets,
                                task->synced_for / task->syncs, task->syncs);
    }
    if (task->kind != TASK_WRITE && task->kind != TASK_SYNC) {
        journal->storage->ops->maintained(journal);
    } else if (task->error) {
        journal->storage->ops->write_failed(journal);
    } else if (task->kind == TASK_WRITE) {
        turn_written(journal);
    } else {
        turn_all_synced(journal);
    }
}

//
// Turns
//

bool turn_do_next(struct journal *journal)
{
    turn_hand_over(journal);
    if (!journal->slot.busy) {
        return false;
    }
    slot_wait(&journal->slot);
    turn_take_in(journal);
    return true;
}

// One chunk is enough for any record. Space for records that may be refused was checked, and chunks
// for one turn of the others are set aside. If more of these come while there is no memory, the
// loop waits for the storage, as an exception: chunks that are safe there become free.
void turn_make_memory(struct journal *journal)
{
    uint64_t errors = journal->counters.errors;

    while (!chunk_pool_grow(&journal->batches.pool, 1) && journal->counters.errors == errors) {
        journal->pace.expected = 0;
        if (!turn_do_next(journal)) {
            return;
        }
    }
}

static void turn_append_ids(struct journal *journal)
{
    if (journal->batches.pool.count == 0 && append_ids_due(journal)) {
        turn_make_memory(journal);
    }
    append_ids(journal);
}

void journal_turn(struct journal *journal)
{
    turn_take_in(journal);
    space_has_memory(journal);
    turn_append_ids(journal);
    compact_step(journal);
    end_mark_step(journal);
    turn_hand_over(journal);
    fail_review(journal);
}

//
// Statistics
//

#define DOUBLED(unit)                                                                              \
    {                                                                                              \
        (unit), (unit) << 1, (unit) << 2, (unit) << 3, (unit) << 4, (unit) << 5, (unit) << 6,      \
            (unit) << 7, (unit) << 8, (unit) << 9, (unit) << 10, (unit) << 11, (unit) << 12,       \
            (unit) << 13, (unit) << 14, (unit) << 15, (unit) << 16, INT64_MAX                      \
    }

const int64_t journal_record_buckets[JOURNAL_BUCKETS] = DOUBLED(INT64_C(1));
const int64_t journal_sync_buckets[JOURNAL_BUCKETS] = DOUBLED(NSEC_PER_MSEC / 10);

void journal_histogram_count(struct journal_histogram *histogram, const int64_t *limits,
                             int64_t value, unsigned times)
{
    size_t bucket = 0;

    while (value > limits[bucket]) {
        bucket++;
    }
    histogram->counts[bucket] += times;
    histogram->count += times;
    histogram->sum += (uint64_t)value * times;
}
