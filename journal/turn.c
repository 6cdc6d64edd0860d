/* SPDX-License-Identifier: MIT */

// The turn of the journal: what the worker thread has done is taken in, and it is given what is to
// be done next. Batches come first, but after each batch some pieces of upkeep (upkeep.c) may pass:
// a busy broker would never get to these otherwise.

#include "core/base/hash.h"
#include "core/base/log.h"
#include "journal/journal_private.h"

#include <errno.h>
#include <string.h>

// How long a batch waits for more to come: this share of the time that the last write took; where
// that is short, so long, but no longer than the write took.
enum { GATHER_SHARE = 5 };
#define GATHER_LEAST (300 * NSEC_PER_MSEC / 1000)

uint64_t turn_draw_salt(struct journal *journal)
{
    return hash_mix(journal->settings.secret + journal->salts++);
}

void turn_say_synced(const struct batch *batch, uint64_t synced)
{
    if (batch->marked) {
        codec_put_number(batch->head->bytes, CODEC_SYNCED, synced);
    }
}

bool turn_give(struct journal *journal)
{
    journal->busy = true;
    journal->begun_at = journal_present(journal);
    journal->worker.give(journal->worker.self, &journal->task);
    return true;
}

bool turn_give_sync(struct journal *journal, struct segment *segment)
{
    journal->task = (struct task){.kind = TASK_SYNC, .segment = segment};
    return segment && turn_give(journal);
}

// It may have left the row already, as emptied, while the first of the row is still on its way.
static struct segment *written_last(const struct journal *journal)
{
    for (size_t i = journal->segments.count; i-- > 0;) {
        if (journal->segments.list[i]->published) {
            return journal->segments.list[i];
        }
    }
    return journal->removing;
}

struct segment *turn_written_last(const struct journal *journal)
{
    struct segment *last = written_last(journal);

    return last && !last->failed && last->file >= 0 ? last : NULL;
}

bool turn_disk_is_full(int error)
{
    return error == ENOSPC || error == EDQUOT;
}

//
// Taking in
//

static void succeed(struct journal *journal)
{
    if (journal->failing_at != NSEC_NEVER) {
        log_warn("journal_recovered", log_number("segment", (int64_t)journal->current->number));
    }
    journal->failing_at = NSEC_NEVER;
    journal->failures = 0;
    journal->given_up = false;
    if (journal->spare && space_suffices(journal, journal->spare)) {
        upkeep_has_space(journal);
    }
}

// All that was written is synced.
static void all_synced(struct journal *journal)
{
    batch_drop(&journal->unsynced, &journal->pool);
    journal->synced = journal->reached;
    journal->dirty_at = NSEC_NEVER;
    journal->ids_end = journal->ids_written;
    proof_is_wanted(journal);
}

// What was written is kept until it is synced. Should it have to be written anew, to another
// segment, what it says of how far this one is synced would be wrong there.
static void keep_unsynced(struct journal *journal)
{
    struct batch *batch = &journal->writing;

    if (journal->settings.sync_every_for == NSEC_NEVER) {
        batch_drop(batch, &journal->pool);
        return;
    }
    turn_say_synced(batch, 0);
    batch_pack(&journal->unsynced, batch, &journal->pool);
}

static void written(struct journal *journal)
{
    struct batch *batch = &journal->writing;
    bool all_safe = journal->synced == journal->reached && proof_is_all(batch);

    journal->reached = batch->position;
    journal->ids_written = batch->ids_end;
    journal->expected = batch->records + journal->gathering.records;
    journal->written_at = journal->settings.now();
    journal->write_took_for = journal->task.took_for;
    journal->upkeep_due = upkeep_after(journal, batch);
    if (journal->task.sync) {
        batch_drop(batch, &journal->pool);
        all_synced(journal);
    } else {
        keep_unsynced(journal);
        if (all_safe) {
            journal->synced = journal->reached;
        } else if (journal->dirty_at == NSEC_NEVER) {
            journal->dirty_at = journal_present(journal);
        }
    }
    batch_init(batch, 0);
    succeed(journal);
}

static void take_in(struct journal *journal)
{
    const struct task *task = &journal->task;

    journal->busy = false;
    if (task->kind != TASK_WRITE && task->kind != TASK_SYNC) {
        upkeep_take_in(journal);
    } else if (task->error) {
        fail_segment(journal);
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
           !batch_empty(&journal->gathering) && journal->gathering.records < journal->expected &&
           journal->settings.now() < turn_gathers_until(journal);
}

nsec_t turn_gathers_until(const struct journal *journal)
{
    nsec_t wait_for = journal->write_took_for / GATHER_SHARE;

    if (wait_for < GATHER_LEAST) {
        wait_for = GATHER_LEAST < journal->write_took_for ? GATHER_LEAST : journal->write_took_for;
    }
    return journal->written_at + wait_for;
}

// A block of ids is synced, whatever the policy, well before the first of them is given out.
static bool ids_wait(const struct journal *journal)
{
    return journal->ids_end < journal->ids_written;
}

// What is kept until it is synced is kept no longer where memory runs out.
static bool is_short_of_memory(const struct journal *journal)
{
    return !batch_empty(&journal->unsynced) && space_memory_is_low(journal);
}

static bool sync_is_due(const struct journal *journal)
{
    return ids_wait(journal) || is_short_of_memory(journal) ||
           journal->unsynced.bytes > journal->settings.max_pending / 2 ||
           (journal->dirty_at != NSEC_NEVER && journal->settings.sync_every_for != NSEC_NEVER &&
            nsec_add(journal->dirty_at, journal->settings.sync_every_for) <=
                journal_present(journal));
}

static bool write_batch(struct journal *journal)
{
    bool always = journal->settings.sync_every_for == 0;
    struct segment *segment;
    bool waits;

    if (batch_empty(&journal->writing)) {
        if (batch_empty(&journal->gathering) || turn_gathers(journal)) {
            return false;
        }
        journal->writing = journal->gathering;
        journal->writing.ids_end = journal->ids_asked;
        batch_init(&journal->gathering, journal->writing.position + 1);
    }
    segment = space_too_small(journal);
    if (segment) {
        return upkeep_make_larger(journal, segment);
    }
    turn_say_synced(&journal->writing, journal->writing.head->segment->synced);
    waits = always && !proof_is_all(&journal->writing);
    journal->task = (struct task){.kind = TASK_WRITE,
                                  .batch = &journal->writing,
                                  .before = written_last(journal),
                                  .sync = waits || journal->closing || append_ids_short(journal),
                                  .size = always ? TASK_ZEROS_MAX : 0};
    return turn_give(journal);
}

static bool sync(struct journal *journal)
{
    return sync_is_due(journal) && turn_give_sync(journal, turn_written_last(journal));
}

static bool hand_over(struct journal *journal)
{
    bool keeps_up = journal->upkeep_due > 0;

    if (journal_present(journal) < journal->retry_at) {
        return false;
    }
    if (!fail_make_room(journal) || !segments_make_room(&journal->segments)) {
        fail_wait(journal);
        return false;
    }
    if (journal->current->file < 0 && !fail_take_spare(journal)) {
        return upkeep_give(journal);
    }
    if (keeps_up && upkeep_give(journal)) {
        journal->upkeep_due--;
        return true;
    }
    // What has nothing to do now must not come before what comes next.
    journal->upkeep_due = 0;
    return sync(journal) || write_batch(journal) || (!keeps_up && upkeep_give(journal));
}

void turn_take_in(struct journal *journal)
{
    if (journal->busy && journal->worker.done(journal->worker.self)) {
        take_in(journal);
    }
}

void turn_hand_over(struct journal *journal)
{
    if (!journal->busy) {
        (void)hand_over(journal);
    }
}

void journal_turn(struct journal *journal)
{
    turn_take_in(journal);
    space_has_memory(journal);
    append_ids(journal);
    compact_step(journal);
    proof_step(journal);
    turn_hand_over(journal);
    fail_review(journal);
}
