/* SPDX-License-Identifier: MIT */

// The turn of the journal: what the worker thread has done is taken in, and it is given what is to
// be done next. Batches come first, but after each batch some pieces of upkeep (upkeep.c) may pass:
// a busy broker would never get to these otherwise.

#include "journal/turn.h"

#include "core/base/log.h"
#include "journal/append.h"
#include "journal/space.h"

// How long a batch waits for more to come: a share of the time that the last write took, as the
// storage says, but no longer than GATHER_MOST; where that is short, GATHER_LEAST, but no longer
// than the write took.
#define GATHER_MOST (100 * NSEC_PER_MSEC)
#define GATHER_LEAST (300 * NSEC_PER_MSEC / 1000)

bool turn_give(struct journal *journal)
{
    return work_give(&journal->work, journal_present(journal));
}

bool turn_give_sync(struct journal *journal, struct segment *segment)
{
    journal->work.task = (struct task){.kind = TASK_SYNC, .segment = segment};
    return segment && turn_give(journal);
}

//
// Taking in
//

static void succeed(struct journal *journal)
{
    if (journal->failure.failing_at != NSEC_NEVER) {
        log_warn("journal_recovered", log_number("segment", (int64_t)journal->row.current->number));
    }
    journal->failure.failing_at = NSEC_NEVER;
    journal->failure.count = 0;
    journal->failure.given_up = false;
    if (journal->upkeep.full) {
        journal->storage->ops->has_written(journal);
    }
}

// All that was written is synced.
static void all_synced(struct journal *journal)
{
    batch_drop(&journal->batches.unsynced, &journal->batches.pool);
    journal->position.synced = journal->position.reached;
    journal->position.unsynced_at = NSEC_NEVER;
    journal->ids.end = journal->ids.written;
    proof_is_wanted(journal);
}

// What was written is kept until it is synced. Should it have to be written anew, to another
// segment, what it says of how far this one is synced would be wrong there.
static void keep_unsynced(struct journal *journal)
{
    struct batch *batch = &journal->batches.writing;

    if (journal->settings.sync_every_for == NSEC_NEVER) {
        batch_drop(batch, &journal->batches.pool);
        return;
    }
    batch_say_synced(batch, 0);
    batch_pack(&journal->batches.unsynced, batch, &journal->batches.pool);
}

static void written(struct journal *journal)
{
    struct batch *batch = &journal->batches.writing;
    bool all_safe = journal->position.synced == journal->position.reached && proof_is_all(batch);

    journal->figures.batches++;
    figure_count(&journal->figures.batch_records, figures_record_ends, (int64_t)batch->records, 1);
    journal->position.reached = batch->position;
    journal->ids.written = batch->ids_end;
    journal->pace.expected = batch->records + journal->batches.gathering.records;
    journal->pace.written_at = journal->settings.now();
    journal->pace.took_for = journal->work.task.took_for;
    journal->upkeep.due = journal->storage->ops->upkeep_after(journal, batch->bytes);
    if (journal->work.task.sync) {
        batch_drop(batch, &journal->batches.pool);
        all_synced(journal);
    } else {
        keep_unsynced(journal);
        if (all_safe) {
            journal->position.synced = journal->position.reached;
        } else if (journal->position.unsynced_at == NSEC_NEVER) {
            journal->position.unsynced_at = journal_present(journal);
        }
    }
    batch_init(batch, 0);
    succeed(journal);
}

static void count_syncs(struct journal_figures *figures, const struct task *task)
{
    if (task->syncs > 0) {
        figure_count(&figures->syncs, figures_sync_ends, task->synced_for / task->syncs,
                     task->syncs);
    }
}

static void give_up_or_again(struct journal *journal)
{
    const struct storage_ops *ops = journal->storage->ops;

    if (ops->tries_again && ops->tries_again(journal)) {
        fail_again(journal);
    } else {
        fail_segment(journal);
    }
}

static void take_in(struct journal *journal)
{
    const struct task *task = &journal->work.task;

    journal->work.busy = false;
    count_syncs(&journal->figures, task);
    if (task->kind != TASK_WRITE && task->kind != TASK_SYNC) {
        journal->storage->ops->upkeep_take_in(journal);
    } else if (task->error) {
        give_up_or_again(journal);
    } else if (task->kind == TASK_WRITE) {
        written(journal);
    } else {
        all_synced(journal);
    }
}

//
// Batches
//

// With `always`, those who were just told will soon hand in more, and one sync should serve them
// all: a little waiting costs less than a sync of which half of them miss the beginning.
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

// What is kept until it is synced is kept no longer where memory runs out.
static bool is_short_of_memory(const struct journal *journal)
{
    return !batch_empty(&journal->batches.unsynced) && space_memory_is_low(journal);
}

static bool sync_is_due(const struct journal *journal)
{
    // A block of ids is synced, whatever the policy, well before the first of them is given out.
    return ids_wait(&journal->ids) || is_short_of_memory(journal) ||
           journal->batches.unsynced.bytes > journal->settings.max_pending / 2 ||
           (journal->position.unsynced_at != NSEC_NEVER &&
            journal->settings.sync_every_for != NSEC_NEVER &&
            nsec_add(journal->position.unsynced_at, journal->settings.sync_every_for) <=
                journal_present(journal));
}

static bool write_batch(struct journal *journal)
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
    // Where the current segment is in its place, nothing else is written to.
    if ((!journal->row.current->published || space_overflows(journal)) &&
        journal->storage->ops->before_write(journal)) {
        return true;
    }
    batch_say_synced(&journal->batches.writing, journal->batches.writing.head->segment->synced);
    waits = always && !proof_is_all(&journal->batches.writing);
    journal->work.task =
        (struct task){.kind = TASK_WRITE,
                      .batch = &journal->batches.writing,
                      .before = row_written_last(&journal->row),
                      .sync = waits || journal->closing || append_ids_short(journal),
                      .size = always ? journal->storage->ops->write_ahead : 0};
    return turn_give(journal);
}

static bool sync(struct journal *journal)
{
    return sync_is_due(journal) && turn_give_sync(journal, row_syncable(&journal->row));
}

static bool hand_over(struct journal *journal)
{
    bool keeps_up = journal->upkeep.due > 0;

    if (journal_present(journal) < journal->failure.retry_at) {
        return false;
    }
    if (!row_make_room(&journal->row)) {
        fail_wait(journal);
        return false;
    }
    if (!segment_is_open(journal->row.current) && !journal->storage->ops->can_write(journal)) {
        return journal->storage->ops->upkeep_give(journal);
    }
    if (keeps_up && journal->storage->ops->upkeep_give(journal)) {
        journal->upkeep.due--;
        return true;
    }
    // What has nothing to do now must not come before what comes next.
    journal->upkeep.due = 0;
    return sync(journal) || write_batch(journal) ||
           (!keeps_up && journal->storage->ops->upkeep_give(journal));
}

void turn_take_in(struct journal *journal)
{
    if (journal->work.busy && work_done(&journal->work)) {
        take_in(journal);
    }
}

void turn_hand_over(struct journal *journal)
{
    if (!journal->work.busy) {
        (void)hand_over(journal);
    }
}

bool turn_do_next(struct journal *journal)
{
    turn_hand_over(journal);
    if (!journal->work.busy) {
        return false;
    }
    work_wait(&journal->work);
    turn_take_in(journal);
    return true;
}

// One chunk is enough for any record. Space for what may be refused was asked for, and a turn's
// worth for what may not was set aside; where more than that comes while there is no memory, the
// loop waits for the disk, for once: what is safe there gives its chunks back.
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

static void keep_ids(struct journal *journal)
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
    keep_ids(journal);
    compact_step(journal);
    proof_step(journal);
    turn_hand_over(journal);
    fail_review(journal);
}
