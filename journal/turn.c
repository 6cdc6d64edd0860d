/* SPDX-License-Identifier: MIT */

// The turn of the journal: what the hand has done is taken in, and it is given what is to be done
// next. Batches come first, but after each batch one piece of care may pass: a spare that is
// wanted, space to be given back, a file to be removed. Otherwise a busy broker would never get to
// these.

#include "core/hash.h"
#include "core/log.h"
#include "journal/journal_private.h"

#include <errno.h>
#include <string.h>

// How long a batch waits for more to come: this share of the time that the last write took; where
// that is short, so long, but no longer than the write took.
enum { GATHER_SHARE = 5 };
#define GATHER_LEAST (300 * NSEC_PER_MSEC / 1000)
// How long to wait before a failed piece of care is tried again.
#define CARE_RETRY NSEC_PER_SEC
// So much of a file is given back in one go: that may take long, and batches have to wait.
#define REMOVE_STEP ((uint64_t)32 * 1024 * 1024)

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

// Hands `task` over. Always true: there was something to do.
static bool give(struct journal *journal)
{
    journal->busy = true;
    journal->begun_at = journal_present(journal);
    journal->hand.give(journal->hand.self, &journal->task);
    return true;
}

// Has the segment synced, as far as it is written; false for none.
static bool give_sync(struct journal *journal, struct segment *segment)
{
    journal->task = (struct task){.kind = TASK_SYNC, .segment = segment};
    return segment && give(journal);
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

static void has_room(struct journal *journal)
{
    if (journal->full) {
        journal->full = false;
        log_info("journal_has_room", log_number("segment", (int64_t)journal->current->number));
    }
}

static void succeed(struct journal *journal)
{
    if (journal->failing_at != NSEC_NEVER) {
        log_warn("journal_recovered", log_number("segment", (int64_t)journal->current->number));
    }
    journal->failing_at = NSEC_NEVER;
    journal->failures = 0;
    journal->given_up = false;
    if (journal->spare && room_spare_suffices(journal)) {
        has_room(journal);
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
    journal->care_is_due = true;
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

static void has_no_room(struct journal *journal)
{
    journal->care_at = nsec_add(journal_present(journal), CARE_RETRY);
    if (!journal->full) {
        journal->full = true;
        journal->errors++;
        log_error("journal_full", log_string("why", strerror(journal->task.error)),
                  log_number("bytes", (int64_t)journal->task.size));
    }
}

static void resized(struct journal *journal)
{
    journal->task.segment->size = journal->task.size;
    if (journal->spare && room_spare_suffices(journal)) {
        has_room(journal);
    }
}

static void prepared(struct journal *journal)
{
    journal->spare = journal->task.segment;
    has_room(journal);
    if (journal->current->file < 0) {
        (void)fail_take_spare(journal);
    }
}

static void removed(struct journal *journal)
{
    journal->removing->size = journal->task.size;
    if (journal->task.size == 0) {
        segment_free(journal->removing);
        journal->removing = NULL;
    }
    // There may be room for what was refused.
    journal->care_at = 0;
}

// Told once for as long as it lasts.
static void care_failed(struct journal *journal)
{
    const struct task *task = &journal->task;

    journal->care_at = nsec_add(journal_present(journal), CARE_RETRY);
    journal->errors++;
    if (journal->care_error != task->error || journal->care_kind != task->kind) {
        log_error("journal_care_failed", log_string("what", task->failed),
                  log_number("segment", (int64_t)task->segment->number),
                  log_string("why", strerror(task->error)));
    }
    journal->care_error = task->error;
    journal->care_kind = task->kind;
}

static void care_succeeded(struct journal *journal)
{
    if (journal->care_error && journal->care_kind == journal->task.kind) {
        log_info("journal_care_recovered",
                 log_number("segment", (int64_t)journal->current->number));
        journal->care_error = 0;
    }
}

static void not_prepared(struct journal *journal)
{
    if (turn_disk_is_full(journal->task.error)) {
        has_no_room(journal);
    } else {
        care_failed(journal);
    }
    segment_free(journal->task.segment);
}

// The spare is a good one still.
static void cannot_copy(struct journal *journal)
{
    struct compaction *at = &journal->compaction;

    at->retry_at = nsec_add(journal_present(journal), CARE_RETRY);
    if (!at->told) {
        at->told = true;
        log_warn("journal_cannot_copy", log_number("bytes", (int64_t)at->wants),
                 log_string("why", strerror(journal->task.error)));
    }
}

static void not_resized(struct journal *journal)
{
    const struct segment *segment = journal->task.segment;
    bool full = turn_disk_is_full(journal->task.error);

    if (full && segment == journal->spare && room_spare_suffices(journal) &&
        room_spare_lacks_copy(journal)) {
        cannot_copy(journal);
    } else if (full && (segment == journal->spare || segment == room_too_small(journal))) {
        has_no_room(journal);
    } else {
        care_failed(journal);
    }
    // Its records cannot be written.
    if (segment == room_too_small(journal)) {
        fail_for_now(journal);
    }
}

static void take_in_failure(struct journal *journal)
{
    switch (journal->task.kind) {
    case TASK_WRITE:
    case TASK_SYNC:
        fail_segment(journal);
        return;
    case TASK_PREPARE:
        not_prepared(journal);
        return;
    case TASK_RESIZE:
        not_resized(journal);
        return;
    case TASK_REMOVE:
    case TASK_KEEP:
        care_failed(journal);
        return;
    }
    UNREACHABLE();
}

static void take_in(struct journal *journal)
{
    journal->busy = false;
    if (journal->task.error) {
        take_in_failure(journal);
        return;
    }
    care_succeeded(journal);
    switch (journal->task.kind) {
    case TASK_WRITE:
        written(journal);
        return;
    case TASK_SYNC:
        all_synced(journal);
        return;
    case TASK_PREPARE:
        prepared(journal);
        return;
    case TASK_RESIZE:
        resized(journal);
        return;
    case TASK_REMOVE:
        removed(journal);
        return;
    case TASK_KEEP:
        journal->about = journal->next_about;
        return;
    }
    UNREACHABLE();
}

//
// Care
//

static bool prepare(struct journal *journal)
{
    struct segment *segment = segment_new(0, turn_draw_salt(journal));

    journal->task =
        (struct task){.kind = TASK_PREPARE, .segment = segment, .size = room_file_size(journal)};
    return segment && give(journal);
}

// A segment that is on its way has the spare's name until it is published.
static bool spare_is_wanted(const struct journal *journal)
{
    return !journal->spare && (journal->current->published || journal->current->file < 0);
}

// What is given back must not be counted on from now on, what is wanted not before it is there.
static bool resize(struct journal *journal, struct segment *segment, uint64_t size)
{
    if (size < segment->size) {
        segment->size = size;
    }
    journal->task = (struct task){.kind = TASK_RESIZE, .segment = segment, .size = size};
    return give(journal);
}

// A segment that is written to no more gives back what it had set aside, and is closed.
static bool trim(struct journal *journal)
{
    for (size_t i = journal->segments.count; i-- > 0;) {
        struct segment *segment = journal->segments.list[i];

        if (segment == journal->current || !segment->published) {
            continue;
        }
        if (segment->file < 0 || (!segment->failed && (segment->written < segment->end ||
                                                       segment->synced < segment->written))) {
            return false;
        }
        if (!segment->failed && segment->size > segment->end) {
            return resize(journal, segment, segment->end);
        }
        journal_close_file(journal, segment);
        // Compaction may have waited for that.
        journal->compaction.blocked = false;
    }
    return false;
}

static bool fit_spare(struct journal *journal)
{
    uint64_t size = room_spare_size(journal);
    bool lacks =
        room_spare_lacks_copy(journal) && journal->compaction.retry_at <= journal_present(journal);

    if (!room_spare_suffices(journal)) {
        return resize(journal, journal->spare, room_file_size(journal));
    }
    return (lacks || journal->spare->size > size + size / 8) &&
           resize(journal, journal->spare, size);
}

// The current segment gives back what is set aside for promises that are no more.
static bool fit_current(struct journal *journal)
{
    const struct segment *current = journal->current;
    uint64_t size = room_spare_size(journal);

    return current->published && current->size - current->end > size + size / 8 &&
           resize(journal, journal->current, current->end + size);
}

static bool remove_oldest(struct journal *journal)
{
    uint64_t size;

    if (!journal->removing || journal->reached < journal->removable_at) {
        return false;
    }
    journal_close_file(journal, journal->removing);
    if (journal->synced < journal->removable_at) {
        return give_sync(journal, turn_written_last(journal));
    }
    size = journal->removing->damaged ? 0 : journal->removing->size;
    journal->task = (struct task){.kind = TASK_REMOVE,
                                  .segment = journal->removing,
                                  .size = size > REMOVE_STEP ? size - REMOVE_STEP : 0};
    return give(journal);
}

static bool keep_about(struct journal *journal)
{
    if (!proof_next_about(journal, &journal->next_about)) {
        return false;
    }
    journal->task = (struct task){
        .kind = TASK_KEEP, .segment = journal->current, .about = &journal->next_about};
    return give(journal);
}

static bool give_care(struct journal *journal)
{
    if (journal_present(journal) < journal->care_at) {
        return false;
    }
    // Nothing can be written without a file. Otherwise what is given back first is not needed
    // twice.
    return remove_oldest(journal) ||
           (journal->current->file < 0 && spare_is_wanted(journal) && prepare(journal)) ||
           trim(journal) || (spare_is_wanted(journal) && prepare(journal)) ||
           (journal->spare && fit_spare(journal)) || fit_current(journal) || keep_about(journal);
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
    return !batch_empty(&journal->unsynced) && room_memory_is_low(journal);
}

static bool sync_is_due(const struct journal *journal)
{
    return ids_wait(journal) || is_short_of_memory(journal) ||
           journal->unsynced.bytes > journal->settings.max_pending / 2 ||
           (journal->dirty_at != NSEC_NEVER && journal->settings.sync_every_for != NSEC_NEVER &&
            nsec_add(journal->dirty_at, journal->settings.sync_every_for) <=
                journal_present(journal));
}

// What is to be written comes before what may come: where there is no room, the spare gives up its.
static bool make_larger(struct journal *journal, struct segment *segment)
{
    if (journal->failures > 0 && journal->spare && journal->spare->size > 0) {
        return resize(journal, journal->spare, 0);
    }
    return resize(journal, segment, room_wanted(journal, segment));
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
    segment = room_too_small(journal);
    if (segment) {
        return make_larger(journal, segment);
    }
    turn_say_synced(&journal->writing, journal->writing.head->segment->synced);
    waits = always && !proof_is_all(&journal->writing);
    journal->task = (struct task){.kind = TASK_WRITE,
                                  .batch = &journal->writing,
                                  .before = written_last(journal),
                                  .sync = waits || journal->closing || append_ids_short(journal),
                                  .size = always ? TASK_ZEROS_MAX : 0};
    return give(journal);
}

static bool sync(struct journal *journal)
{
    return sync_is_due(journal) && give_sync(journal, turn_written_last(journal));
}

// The task before was a step of that: a batch comes first.
static bool is_removing(const struct journal *journal)
{
    return journal->task.kind == TASK_REMOVE && journal->task.size > 0;
}

static bool hand_over(struct journal *journal)
{
    bool cares = journal->care_is_due || (compact_is_behind(journal) && !is_removing(journal));

    if (journal_present(journal) < journal->retry_at) {
        return false;
    }
    if (!fail_make_room(journal) || !segments_make_room(&journal->segments)) {
        fail_wait(journal);
        return false;
    }
    if (journal->current->file < 0 && !fail_take_spare(journal)) {
        return give_care(journal);
    }
    journal->care_is_due = false;
    return (cares && give_care(journal)) || sync(journal) || write_batch(journal) ||
           (!cares && give_care(journal));
}

void turn_take_in(struct journal *journal)
{
    if (journal->busy && journal->hand.done(journal->hand.self)) {
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
    room_has_memory(journal);
    append_ids(journal);
    compact_step(journal);
    proof_step(journal);
    turn_hand_over(journal);
    fail_review(journal);
}
