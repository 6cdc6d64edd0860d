/* SPDX-License-Identifier: MIT */

// Upkeep: what is done for the files beside writing to them. A spare is made, space is set aside
// and given back, files are removed.
//
// How long that takes depends on how large the files are, and what clients wait for has to wait for
// it. So it is done in pieces, none of which is about more than settings.step_size: a spare grows
// until it is large enough, and a file that is to go first loses its name, for good, and then,
// while it is still open, its space. Should the process end meanwhile, the next start removes what
// was to be the spare, and the system frees what has no name.

#include "journal/file/upkeep.h"

#include "core/base/log.h"
#include "journal/file/space.h"

#include <string.h>

// How long to wait before a failed piece of upkeep is tried again.
#define UPKEEP_RETRY_FOR NSEC_PER_SEC
// So many pieces may come before the next batch while compaction is behind, unless they are steps
// of a large file.
enum { PIECES_BEHIND = 4 };

uint64_t upkeep_after(const struct journal *journal, uint64_t bytes)
{
    // For as many bytes as a batch has, space is to be set aside, and given back.
    uint64_t pieces = 1 + 4 * bytes / journal->settings.step_size;

    // Where files are small, more of them may be wanted than batches come.
    bool steps = files_of(journal)->shedding || files_of(journal)->making;

    return !steps && pieces < PIECES_BEHIND && compact_is_behind(journal) ? PIECES_BEHIND : pieces;
}

//
// Taking in
//

void upkeep_has_space(struct journal *journal)
{
    if (journal->upkeep.full) {
        journal->upkeep.full = false;
        log_info("journal_has_room", log_number("segment", (int64_t)journal->row.current->number));
    }
}

static void has_no_space(struct journal *journal)
{
    journal->upkeep.retry_at = nsec_add(journal_present(journal), UPKEEP_RETRY_FOR);
    if (!journal->upkeep.full) {
        journal->upkeep.full = true;
        journal->counters.errors++;
        log_error("journal_full", log_string("why", strerror(journal->work.task.error)),
                  log_number("bytes", (int64_t)journal->work.task.size));
    }
}

static void resized(struct journal *journal)
{
    journal->work.task.segment->size = journal->work.task.size;
    if (files_of(journal)->spare && files_suffices(journal, files_of(journal)->spare)) {
        upkeep_has_space(journal);
    }
}

static void prepared(struct journal *journal)
{
    struct segment *segment = journal->work.task.segment;

    if (!files_suffices(journal, segment)) {
        files_of(journal)->making = segment;
        return;
    }
    files_of(journal)->making = NULL;
    files_of(journal)->spare = segment;
    upkeep_has_space(journal);
    if (journal->row.current->file < 0) {
        (void)files_take_spare(journal);
    }
}

static void shed_done(struct journal *journal)
{
    // What was to be a spare had no space.
    bool frees = files_of(journal)->shedding->published;

    if (files_of(journal)->shedding->file >= 0) {
        return;
    }
    segment_free(files_of(journal)->shedding);
    files_of(journal)->shedding = NULL;
    // There may be space for what was refused.
    journal->upkeep.retry_at = frees ? 0 : journal->upkeep.retry_at;
}

static void removed(struct journal *journal)
{
    files_of(journal)->shedding = journal->row.removing;
    journal->row.removing = NULL;
    shed_done(journal);
}

// Told once for as long as it lasts.
static void upkeep_failed(struct journal *journal)
{
    const struct task *task = &journal->work.task;

    journal->upkeep.retry_at = nsec_add(journal_present(journal), UPKEEP_RETRY_FOR);
    journal->counters.errors++;
    if (journal->upkeep.error != task->error || journal->upkeep.kind != task->kind) {
        log_error("journal_care_failed", log_string("what", task->failed),
                  log_number("segment", (int64_t)task->segment->number),
                  log_string("why", strerror(task->error)));
    }
    journal->upkeep.error = task->error;
    journal->upkeep.kind = task->kind;
}

static void upkeep_succeeded(struct journal *journal)
{
    const struct task *task = &journal->work.task;
    bool part = task->kind == TASK_PREPARE && !files_suffices(journal, task->segment);

    if (journal->upkeep.error && journal->upkeep.kind == task->kind && !part) {
        log_info("journal_care_recovered",
                 log_number("segment", (int64_t)journal->row.current->number));
        journal->upkeep.error = 0;
    }
}

static void not_prepared(struct journal *journal)
{
    struct segment *segment = journal->work.task.segment;

    if (files_disk_is_full(journal->work.task.error)) {
        has_no_space(journal);
    } else {
        upkeep_failed(journal);
    }
    files_of(journal)->making = NULL;
    files_of(journal)->shedding = segment;
    shed_done(journal);
}

// The spare is a good one still.
static void cannot_copy(struct journal *journal)
{
    struct compaction *at = &journal->compaction;

    at->retry_at = nsec_add(journal_present(journal), UPKEEP_RETRY_FOR);
    if (!at->told) {
        at->told = true;
        log_warn("journal_cannot_copy", log_number("bytes", (int64_t)at->wants),
                 log_string("why", strerror(journal->work.task.error)));
    }
}

static void not_resized(struct journal *journal)
{
    const struct segment *segment = journal->work.task.segment;
    bool full = files_disk_is_full(journal->work.task.error);

    if (full && segment == files_of(journal)->spare && files_suffices(journal, segment) &&
        files_spare_lacks_copy(journal)) {
        cannot_copy(journal);
    } else if (full &&
               (segment == files_of(journal)->spare || segment == files_too_small(journal))) {
        has_no_space(journal);
    } else {
        upkeep_failed(journal);
    }
    // Its records cannot be written.
    if (segment == files_too_small(journal)) {
        fail_for_now(journal);
    }
}

static void take_in_failure(struct journal *journal)
{
    switch (journal->work.task.kind) {
    case TASK_PREPARE:
        not_prepared(journal);
        return;
    case TASK_RESIZE:
        not_resized(journal);
        return;
    case TASK_REMOVE:
    case TASK_KEEP:
        upkeep_failed(journal);
        return;
    case TASK_SHED:
    case TASK_WRITE:
    case TASK_SYNC:
        break;
    }
    UNREACHABLE();
}

void upkeep_take_in(struct journal *journal)
{
    if (journal->work.task.error) {
        take_in_failure(journal);
        return;
    }
    upkeep_succeeded(journal);
    switch (journal->work.task.kind) {
    case TASK_PREPARE:
        prepared(journal);
        return;
    case TASK_RESIZE:
        resized(journal);
        return;
    case TASK_REMOVE:
        removed(journal);
        return;
    case TASK_SHED:
        shed_done(journal);
        return;
    case TASK_KEEP:
        files_of(journal)->about = files_of(journal)->next_about;
        return;
    case TASK_WRITE:
    case TASK_SYNC:
        break;
    }
    UNREACHABLE();
}

//
// Handing over
//

// How far one piece takes a size of `from` to `to`.
static uint64_t step(const struct journal *journal, uint64_t from, uint64_t to)
{
    uint64_t most = journal->settings.step_size;

    if (to > from) {
        return to - from > most ? from + most : to;
    }
    return from - to > most ? from - most : to;
}

// What is to be the spare has room for an id: where it becomes the current segment, there is no
// asking for memory.
static struct segment *new_spare(struct journal *journal)
{
    struct segment *segment = segment_new(0, files_draw_salt(journal));

    if (segment && !segment_make_room(segment)) {
        segment_free(segment);
        return NULL;
    }
    return segment;
}

static bool prepare(struct journal *journal)
{
    struct segment *segment = files_of(journal)->making;

    if (!segment) {
        segment = new_spare(journal);
    }
    if (!segment) {
        return false;
    }
    journal->work.task =
        (struct task){.kind = TASK_PREPARE,
                      .segment = segment,
                      .size = step(journal, segment->size, files_file_size(journal))};
    return turn_give(journal);
}

// A segment that is on its way has the spare's name until it is published.
static bool spare_is_wanted(const struct journal *journal)
{
    return !files_of(journal)->spare &&
           (journal->row.current->published || journal->row.current->file < 0);
}

// A piece of it. What is given back must not be counted on from now on, what is wanted not before
// it is there.
static bool resize(struct journal *journal, struct segment *segment, uint64_t size)
{
    size = step(journal, segment->size, size);
    if (size < segment->size) {
        segment->size = size;
    }
    journal->work.task = (struct task){.kind = TASK_RESIZE, .segment = segment, .size = size};
    return turn_give(journal);
}

// A segment that is written to no more gives back what it had set aside, and is closed.
static bool trim(struct journal *journal)
{
    for (size_t i = journal->row.segments.count; i-- > 0;) {
        struct segment *segment = journal->row.segments.list[i];

        if (segment == journal->row.current || !segment->published) {
            continue;
        }
        if (segment->file < 0 || (!segment->failed && (segment->written < segment->end ||
                                                       segment->synced < segment->written))) {
            return false;
        }
        if (!segment->failed && segment->size > segment->end) {
            return resize(journal, segment, segment->end);
        }
        files_close_segment(journal, segment);
        // Compaction may have waited for that.
        journal->compaction.blocked = false;
    }
    return false;
}

// More than the usual, for a job that is to be copied, is kept for as long as there is space for
// it.
static bool fit_spare(struct journal *journal)
{
    bool tries = journal->compaction.retry_at <= journal_present(journal);
    uint64_t size = tries ? files_spare_size(journal) : files_file_size(journal);
    bool lacks = tries && files_spare_lacks_copy(journal);

    if (!files_suffices(journal, files_of(journal)->spare)) {
        return resize(journal, files_of(journal)->spare, files_file_size(journal));
    }
    return (lacks || files_of(journal)->spare->size > size + size / 8) &&
           resize(journal, files_of(journal)->spare, size);
}

// The current segment gives back what is set aside for reserved bytes that are no more.
static bool fit_current(struct journal *journal)
{
    const struct segment *current = journal->row.current;
    uint64_t size = files_spare_size(journal);

    return current->published && current->size - current->end > size + size / 8 &&
           resize(journal, journal->row.current, current->end + size);
}

static bool remove_oldest(struct journal *journal)
{
    if (!journal->row.removing || journal->position.reached < journal->row.removable_at) {
        return false;
    }
    files_close_segment(journal, journal->row.removing);
    if (journal->position.synced < journal->row.removable_at) {
        return turn_give_sync(journal, row_syncable(&journal->row));
    }
    journal->work.task = (struct task){
        .kind = TASK_REMOVE, .segment = journal->row.removing, .size = journal->settings.step_size};
    return turn_give(journal);
}

// A file without a name gives back some of its space.
static bool shed(struct journal *journal)
{
    struct segment *segment = files_of(journal)->shedding;

    if (!segment) {
        return false;
    }
    segment->size = step(journal, segment->size, 0);
    journal->work.task =
        (struct task){.kind = TASK_SHED, .segment = segment, .size = segment->size};
    return turn_give(journal);
}

static bool keep_about(struct journal *journal)
{
    if (!files_next_about(journal, &files_of(journal)->next_about)) {
        return false;
    }
    journal->work.task = (struct task){.kind = TASK_KEEP,
                                       .segment = journal->row.current,
                                       .about = &files_of(journal)->next_about};
    return turn_give(journal);
}

bool upkeep_give(struct journal *journal)
{
    // That cannot fail, and may bring the space that something else has failed for.
    if (shed(journal)) {
        return true;
    }
    if (journal_present(journal) < journal->upkeep.retry_at) {
        return false;
    }
    // Nothing can be written without a file. Otherwise what is given back first is not needed
    // twice.
    return remove_oldest(journal) ||
           (journal->row.current->file < 0 && spare_is_wanted(journal) && prepare(journal)) ||
           trim(journal) || (spare_is_wanted(journal) && prepare(journal)) ||
           (files_of(journal)->spare && fit_spare(journal)) || fit_current(journal) ||
           keep_about(journal);
}

// What is to be written comes before what may come: where there is no space, the spare gives up
// its.
bool upkeep_make_larger(struct journal *journal, struct segment *segment)
{
    struct segment *spare =
        files_of(journal)->spare ? files_of(journal)->spare : files_of(journal)->making;

    if (journal->failure.count > 0 && shed(journal)) {
        return true;
    }
    if (journal->failure.count > 0 && spare && spare->size > 0) {
        return resize(journal, spare, 0);
    }
    return resize(journal, segment, files_wanted(journal, segment));
}
