/* SPDX-License-Identifier: MIT */

// When a file cannot be written or synced. It is given up where the records end that are known to
// be safe: the head of the next segment says so. What may not have arrived is still in memory and
// is written anew, in its order, at the beginning of the next segment; that some of it may then be
// there twice does no harm, for records say how things are, and the later one counts.

#include "journal/fail.h"

#include "core/base/log.h"
#include "journal/append.h"
#include "journal/journal_private.h"

#include <string.h>

#define RETRY_FIRST (100 * NSEC_PER_MSEC)
#define RETRY_MOST NSEC_PER_SEC
// How much longer than for a batch the disk may take for a file that is made, resized or removed,
// times settings.fail_for: that is slow on a good disk, too.
enum { UPKEEP_LONGER = 5 };

// The first failure is answered at once, with another file; the next ones take their time.
static void note(struct journal *journal)
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
    note(journal);
    if (journal->failure.retry_at == journal_present(journal)) {
        fail_wait(journal);
    }
}

// What is not known to be safe begins where the first chunk stands that is still kept.
static void cut_segments(const struct batch *batch)
{
    for (const struct chunk *chunk = batch->head; chunk; chunk = chunk->next) {
        struct segment *segment = chunk->segment;

        if (segment->end > chunk->offset) {
            segment->end = chunk->offset;
        }
    }
}

// All that is kept and not safe, oldest first, in the batch that is to be written; who waits for it
// goes on waiting for the same position.
static void gather_again(struct journal *journal)
{
    struct batch *again = &journal->batches.unsynced;
    uint64_t records = journal->batches.writing.records;
    uint64_t first_id = journal->batches.writing.first_id;
    uint64_t ids_end = batch_empty(&journal->batches.writing) ? journal->ids.written
                                                              : journal->batches.writing.ids_end;
    uint64_t position = batch_empty(&journal->batches.writing) ? journal->position.reached
                                                               : journal->batches.writing.position;

    // What was said of the segment that failed would be wrong of another.
    batch_say_synced(&journal->batches.writing, 0);
    batch_append(again, &journal->batches.writing);
    batch_drop_synced(again, &journal->batches.pool);
    journal->batches.writing = *again;
    journal->batches.writing.records = records;
    journal->batches.writing.position = position;
    journal->batches.writing.first_id = first_id;
    journal->batches.writing.ids_end = ids_end;
    batch_init(again, 0);
}

// Where nothing is kept until it is synced, what compaction wrote anew may be lost with the
// segment: the file that it came from stays, for the next start to look at.
static void keep_what_was_to_go(struct journal *journal)
{
    if (journal->settings.sync_every_for == NSEC_NEVER && journal->row.removing) {
        log_warn("journal_kept", log_number("segment", (int64_t)journal->row.removing->number));
        journal->storage->ops->close(journal, journal->row.removing);
        segment_free(journal->row.removing);
        journal->row.removing = NULL;
    }
}

// Where nothing is kept until it is synced, what the segment has before its end is not written
// anew now, and a power cut may take it: the head of the next segment says so. All that live jobs
// need of it, and of those before it, is written anew by and by.
static void note_unsure(struct journal *journal, struct segment *bad, const struct segment *next)
{
    bad->unsure = bad->end > CODEC_SEGMENT_HEAD && bad->end > bad->synced;
    if (bad->unsure) {
        log_warn("journal_unsure", log_number("segment", (int64_t)bad->number),
                 log_number("from", (int64_t)bad->synced), log_number("to", (int64_t)bad->end));
        journal->row.unsound_below = next->number;
    }
}

void fail_segment(struct journal *journal)
{
    const struct task *task = &journal->work.task;
    struct segment *bad = task->bad ? task->bad : journal->row.current;
    struct segment *next;

    log_error("journal_failed", log_string("what", task->failed),
              log_number("segment", (int64_t)bad->number),
              log_string("why", strerror(task->error)));
    note(journal);
    keep_what_was_to_go(journal);
    gather_again(journal);
    cut_segments(&journal->batches.writing);
    cut_segments(&journal->batches.gathering);
    next = journal->storage->ops->replace(journal, bad);
    if (bad != next) {
        bad->failed = true;
        note_unsure(journal, bad, next);
    }
    next->end = CODEC_SEGMENT_HEAD;
    row_note_previous(&journal->row);
    journal->position.unsynced_at = NSEC_NEVER;
    journal->batches.writing.marked = false;
    batch_move(&journal->batches.writing, next);
    batch_move(&journal->batches.gathering, next);
}

void fail_again(struct journal *journal)
{
    const struct task *task = &journal->work.task;

    // That another process has it is no failure, and told elsewhere.
    if (journal->failure.count == 0 && !journal_has_lost(journal)) {
        log_error("journal_failed", log_string("what", task->failed),
                  log_number("segment", (int64_t)journal->row.current->number),
                  log_string("why", strerror(task->error)));
    }
    note(journal);
}

// When the worker thread has been too long at what it does; NSEC_NEVER where it does nothing.
static nsec_t task_due_at(const struct journal *journal)
{
    bool writes = journal->work.task.kind == TASK_WRITE || journal->work.task.kind == TASK_SYNC;

    if (!journal->work.busy) {
        return NSEC_NEVER;
    }
    return nsec_add(journal->work.begun_at,
                    journal->settings.fail_for * (writes ? 1 : 1 + UPKEEP_LONGER));
}

nsec_t fail_due_at(const struct journal *journal)
{
    nsec_t task_at;
    nsec_t at;

    // Where another process has it, those who wait are dropped with all others.
    if (journal_has_lost(journal)) {
        return NSEC_NEVER;
    }
    // From now on only jobs that are not kept are taken, and there may be no more ids for these. Or
    // ends wait all the same.
    if (journal->failure.given_up) {
        return append_ids_short(journal) || !journal_has_stopped_promising(journal)
                   ? nsec_add(journal->failure.given_up_at, journal->settings.fail_for)
                   : NSEC_NEVER;
    }
    // Nobody waits.
    if (batch_empty(&journal->batches.writing) && batch_empty(&journal->batches.gathering)) {
        return NSEC_NEVER;
    }
    task_at = task_due_at(journal);
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

    journal->work.begun_at = now_at;
    journal->failure.given_up_at = now_at;
    if (journal->failure.failing_at != NSEC_NEVER) {
        journal->failure.failing_at = now_at;
    }
}

bool journal_gave_up(struct journal *journal)
{
    bool gave_up = journal->failure.gave_up;

    journal->failure.gave_up = false;
    return gave_up;
}
