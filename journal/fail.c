/* SPDX-License-Identifier: MIT */

// Failures to write or sync. Records that may not have reached the storage are still in memory. A
// file that failed is given up where its safe records end, which the head of the next segment says,
// and the other records are written again, in their order, at the beginning of the next segment.
// Some of them may then be stored twice; that does no harm, since a record describes a state and
// the later one counts. What is special to files or to a database is in their write_failed().

#include "core/base/log.h"
#include "journal/append.h"
#include "journal/journal_private.h"

#include <string.h>

#define RETRY_FIRST (100 * NSEC_PER_MSEC)
#define RETRY_MOST NSEC_PER_SEC
// Creating, resizing or removing a file is slow on a good disk, too: it may take this many times
// settings.fail_for longer than a write.
enum { MAINTENANCE_LONGER = 5 };

// The first failure is retried at once, with another segment; the next ones are delayed.
static void fail_note(struct journal *journal)
{
    nsec_t wait_for = journal->failure.count == 0 ? 0 : RETRY_FIRST << (journal->failure.count - 1);

    journal->counters.errors++;
    journal->failure.count += journal->failure.count < 8;
    journal->failure.retry_at =
        journal_present(journal) + (wait_for < RETRY_MOST ? wait_for : RETRY_MOST);
    if (journal->failure.failing_at == NSEC_NEVER) {
        journal->failure.failing_at = journal_present(journal);
    }
}

void fail_wait(struct journal *journal)
{
    journal->failure.retry_at = journal_present(journal) + RETRY_FIRST;
}

void fail_for_now(struct journal *journal)
{
    fail_note(journal);
    if (journal->failure.retry_at == journal_present(journal)) {
        fail_wait(journal);
    }
}

static void fail_log(const struct journal *journal, const struct segment *bad)
{
    const struct task *task = &journal->slot.task;

    log_error("journal_failed", log_string("what", task->failed),
              log_number("segment", (int64_t)bad->number),
              log_string("why", strerror(task->error)));
}

void fail_count(struct journal *journal, const struct segment *bad)
{
    fail_log(journal, bad);
    fail_note(journal);
}

void fail_again(struct journal *journal)
{
    // That another process owns the journal is reported elsewhere.
    if (journal->failure.count == 0 && !journal_is_lost(journal)) {
        fail_log(journal, journal->segments.current);
    }
    fail_note(journal);
}

// Puts all chunks that are not safe, oldest first, into the batch to be written; clients that wait
// for it go on waiting for the same position.
static void fail_gather_again(struct journal *journal)
{
    struct log_batch *again = &journal->batches.unsynced;
    struct log_batch *writing = &journal->batches.writing;
    bool empty = batch_empty(writing);
    uint64_t records = writing->records;
    uint64_t first_id = writing->first_id;
    uint64_t ids_end = empty ? journal->ids.written : writing->ids_end;
    uint64_t position = empty ? journal->position.reached : writing->position;

    // How far the failed segment was synced would be wrong in another one.
    batch_say_synced(writing, 0);
    batch_append(again, writing);
    batch_drop_synced(again, &journal->batches.pool);
    *writing = *again;
    writing->records = records;
    writing->position = position;
    writing->first_id = first_id;
    writing->ids_end = ids_end;
    batch_init(again, 0);
}

// A segment ends where its first chunk begins that is still in memory.
static void fail_cut_segments(const struct log_batch *batch)
{
    for (const struct chunk *chunk = batch->head; chunk; chunk = chunk->next) {
        struct segment *segment = chunk->segment;

        if (segment->end > chunk->offset) {
            segment->end = chunk->offset;
        }
    }
}

void fail_take_back(struct journal *journal)
{
    fail_gather_again(journal);
    fail_cut_segments(&journal->batches.writing);
    fail_cut_segments(&journal->batches.gathering);
}

void fail_move_to(struct journal *journal, struct segment *next)
{
    next->end = CODEC_SEGMENT_HEAD;
    segments_note_previous(&journal->segments);
    journal->position.unsynced_at = NSEC_NEVER;
    journal->batches.writing.marked = false;
    batch_move(&journal->batches.writing, next);
    batch_move(&journal->batches.gathering, next);
}

// When the current task has taken too long; NSEC_NEVER: there is none.
static nsec_t fail_task_due_at(const struct journal *journal)
{
    bool writes = journal->slot.task.kind == TASK_WRITE || journal->slot.task.kind == TASK_SYNC;

    if (!journal->slot.busy) {
        return NSEC_NEVER;
    }
    return nsec_add(journal->slot.begun_at,
                    journal->settings.fail_for * (writes ? 1 : 1 + MAINTENANCE_LONGER));
}

nsec_t fail_due_at(const struct journal *journal)
{
    nsec_t task_at;
    nsec_t at;

    // If another process owns the journal, all clients are dropped anyway.
    if (journal_is_lost(journal)) {
        return NSEC_NEVER;
    }
    // Only jobs that are not durable are accepted from now on. Clients may still come to wait: for
    // ids, or, if completions are not answered unrecorded, for these.
    if (journal->failure.given_up) {
        return append_ids_short(journal) || !journal_has_stopped_promising(journal)
                   ? nsec_add(journal->failure.given_up_at, journal->settings.fail_for)
                   : NSEC_NEVER;
    }
    // No client waits.
    if (batch_empty(&journal->batches.writing) && batch_empty(&journal->batches.gathering)) {
        return NSEC_NEVER;
    }
    task_at = fail_task_due_at(journal);
    at = nsec_add(journal->failure.failing_at, journal->settings.fail_for);
    return task_at < at ? task_at : at;
}

void fail_review(struct journal *journal)
{
    if (fail_due_at(journal) > journal_present(journal)) {
        return;
    }
    if (!journal->failure.given_up) {
        log_error("journal_given_up",
                  log_number("records", (int64_t)(journal->batches.writing.records +
                                                  journal->batches.gathering.records)));
    }
    journal->failure.given_up = true;
    journal->failure.gave_up = true;
    journal->failure.given_up_at = journal_present(journal);
}

void fail_forgive(struct journal *journal)
{
    nsec_t now_at = journal_present(journal);

    journal->slot.begun_at = now_at;
    journal->failure.given_up_at = now_at;
    if (journal->failure.failing_at != NSEC_NEVER) {
        journal->failure.failing_at = now_at;
    }
}

bool journal_is_lost(const struct journal *journal)
{
    const struct storage_ops *ops = journal->storage->ops;

    return ops->is_lost && ops->is_lost(journal);
}

bool journal_gave_up(struct journal *journal)
{
    bool gave_up = journal->failure.gave_up;

    journal->failure.gave_up = false;
    return gave_up;
}
