/* SPDX-License-Identifier: MIT */

// Maintenance of the files: prepares the spare, allocates and frees space, removes files.
//
// How long that takes depends on the size of the files, and batches have to wait for it. So it is
// done in steps of at most settings.step_size. A spare grows until it is large enough. A file to be
// removed first loses its name, durably, and then its space, while it is still open. If the process
// ends meanwhile, the next start removes an incomplete spare, and the system frees a file without a
// name.

#include "core/base/log.h"
#include "journal/file/files_private.h"

#include <string.h>

// Most steps before the next batch while compaction is behind, unless they are steps of one large
// file.
enum { PIECES_BEHIND = 4 };

uint64_t files_maintenance_share(const struct journal *journal, uint64_t bytes)
{
    // As many bytes as the batch has are to be allocated, and to be freed.
    uint64_t pieces = 1 + 4 * bytes / journal->settings.step_size;

    // If files are small, more of them may be needed than batches come.
    bool steps = files_of(journal)->freeing || (files_of(journal)->next && !files_spare(journal));

    return !steps && pieces < PIECES_BEHIND && compact_is_behind(journal) ? PIECES_BEHIND : pieces;
}

// The size after one step from `from` to `to`.
static uint64_t maintenance_step(const struct journal *journal, uint64_t from, uint64_t to)
{
    uint64_t most = journal->settings.step_size;

    if (to > from) {
        return to - from > most ? from + most : to;
    }
    return from - to > most ? from - most : to;
}

// The spare has memory for one id: when it becomes the current segment, no memory can be allocated.
static struct segment *maintenance_new_spare(struct journal *journal)
{
    struct segment *segment = segment_new(0, files_draw_salt(journal));

    if (segment && !segment_make_room(segment)) {
        segment_free(segment);
        return NULL;
    }
    return segment;
}

static bool maintenance_prepare(struct journal *journal)
{
    struct files *files = files_of(journal);
    struct segment *segment;

    if (!files->next) {
        files->next = maintenance_new_spare(journal);
    }
    segment = files->next;
    if (!segment) {
        return false;
    }
    journal->slot.task =
        (struct task){.kind = TASK_PREPARE,
                      .segment = segment,
                      .size = maintenance_step(journal, segment->size, files_file_size(journal))};
    return turn_give(journal);
}

// Until the current segment is published, its file has the spare's name.
static bool maintenance_wants_spare(const struct journal *journal)
{
    return !files_spare(journal) &&
           (segment_is_published(journal->segments.current) || journal->segments.current->file < 0);
}

// One step. Freed space must not be counted from now on, allocated space only when it is there.
static bool maintenance_resize(struct journal *journal, struct segment *segment, uint64_t size)
{
    size = maintenance_step(journal, segment->size, size);
    if (size < segment->size) {
        segment->size = size;
    }
    journal->slot.task = (struct task){.kind = TASK_RESIZE, .segment = segment, .size = size};
    return turn_give(journal);
}

// Segments before the current one free their unused space, and are closed.
static bool maintenance_trim(struct journal *journal)
{
    for (size_t i = journal->segments.list.count; i-- > 0;) {
        struct segment *segment = journal->segments.list.items[i];

        if (segment == journal->segments.current || !segment_is_published(segment)) {
            continue;
        }
        if (segment->file < 0 ||
            (segment->state != SEGMENT_FAILED &&
             (segment->written < segment->end || segment->synced < segment->written))) {
            return false;
        }
        if (segment->state != SEGMENT_FAILED && segment->size > segment->end) {
            return maintenance_resize(journal, segment, segment->end);
        }
        files_close_segment(journal, segment);
        // Compaction may have waited for it.
        journal->compaction.blocked = false;
    }
    return false;
}

// Space beyond the usual size, for a job to be copied, is kept as long as the disk has it.
static bool maintenance_fit_spare(struct journal *journal)
{
    bool tries = journal->compaction.retry_at <= journal_present(journal);
    uint64_t size = tries ? files_spare_size(journal) : files_file_size(journal);
    bool lacks = tries && files_spare_lacks_copy(journal);

    if (!files_suffices(journal, files_spare(journal))) {
        return maintenance_resize(journal, files_spare(journal), files_file_size(journal));
    }
    return (lacks || files_spare(journal)->size > size + size / 8) &&
           maintenance_resize(journal, files_spare(journal), size);
}

// The current segment frees space of reservations that no longer exist.
static bool maintenance_fit_current(struct journal *journal)
{
    const struct segment *current = journal->segments.current;
    uint64_t size = files_spare_size(journal);

    return segment_is_published(current) && current->size - current->end > size + size / 8 &&
           maintenance_resize(journal, journal->segments.current, current->end + size);
}

static bool maintenance_remove(struct journal *journal)
{
    if (!journal->segments.removing || journal->position.reached < journal->segments.removable_at) {
        return false;
    }
    files_close_segment(journal, journal->segments.removing);
    if (journal->position.synced < journal->segments.removable_at) {
        return turn_give_sync(journal, segments_syncable(&journal->segments));
    }
    journal->slot.task = (struct task){.kind = TASK_REMOVE,
                                       .segment = journal->segments.removing,
                                       .size = journal->settings.step_size};
    return turn_give(journal);
}

// Frees some space of a file without a name.
static bool maintenance_free_space(struct journal *journal)
{
    struct segment *segment = files_of(journal)->freeing;

    if (!segment) {
        return false;
    }
    segment->size = maintenance_step(journal, segment->size, 0);
    journal->slot.task =
        (struct task){.kind = TASK_FREE_SPACE, .segment = segment, .size = segment->size};
    return turn_give(journal);
}

// What the manifest should say; false if it says so already.
static bool maintenance_next_manifest(struct journal *journal, struct manifest *manifest)
{
    const struct segment *last;

    if (journal->segments.current->number <= files_of(journal)->manifest.youngest) {
        return false;
    }
    last = segments_syncable(&journal->segments);
    if (!last || last->number <= files_of(journal)->manifest.youngest) {
        return false;
    }
    *manifest = files_of(journal)->manifest;
    manifest->youngest = last->number;
    manifest->end = 0;
    return true;
}

static bool maintenance_store_manifest(struct journal *journal)
{
    if (!maintenance_next_manifest(journal, &files_of(journal)->next_manifest)) {
        return false;
    }
    journal->slot.task = (struct task){.kind = TASK_MANIFEST,
                                       .segment = journal->segments.current,
                                       .manifest = &files_of(journal)->next_manifest};
    return turn_give(journal);
}

bool files_maintain(struct journal *journal)
{
    // This cannot fail, and may free the space for which something else has failed.
    if (maintenance_free_space(journal)) {
        return true;
    }
    if (journal_present(journal) < journal->maintenance.retry_at) {
        return false;
    }
    // Nothing can be written without a file. Otherwise space is freed first, so that it is
    // available for the rest.
    return maintenance_remove(journal) ||
           (journal->segments.current->file < 0 && maintenance_wants_spare(journal) &&
            maintenance_prepare(journal)) ||
           maintenance_trim(journal) ||
           (maintenance_wants_spare(journal) && maintenance_prepare(journal)) ||
           (files_spare(journal) && maintenance_fit_spare(journal)) ||
           maintenance_fit_current(journal) || maintenance_store_manifest(journal);
}

// The next write comes before future ones: if there is no space, the spare gives up its own.
bool files_enlarge(struct journal *journal, struct segment *segment)
{
    struct segment *spare = files_of(journal)->next;

    if (journal->failure.count > 0 && maintenance_free_space(journal)) {
        return true;
    }
    if (journal->failure.count > 0 && spare && spare->size > 0) {
        return maintenance_resize(journal, spare, 0);
    }
    return maintenance_resize(journal, segment, files_wanted(journal, segment));
}

//
// Results
//

// How long to wait before a failed task is tried again.
#define MAINTENANCE_RETRY_FOR NSEC_PER_SEC

void files_has_space_again(struct journal *journal)
{
    if (journal->maintenance.full) {
        journal->maintenance.full = false;
        log_info("journal_has_room",
                 log_number("segment", (int64_t)journal->segments.current->number));
    }
}

static void maintenance_no_space(struct journal *journal)
{
    journal->maintenance.retry_at = nsec_add(journal_present(journal), MAINTENANCE_RETRY_FOR);
    if (!journal->maintenance.full) {
        journal->maintenance.full = true;
        journal->counters.errors++;
        log_error("journal_full", log_string("why", strerror(journal->slot.task.error)),
                  log_number("bytes", (int64_t)journal->slot.task.size));
    }
}

static void maintenance_resized(struct journal *journal)
{
    if (files_spare(journal) && files_suffices(journal, files_spare(journal))) {
        files_has_space_again(journal);
    }
}

static void maintenance_prepared(struct journal *journal)
{
    struct segment *segment = journal->slot.task.segment;

    if (!files_suffices(journal, segment)) {
        return;
    }
    segment_set_state(segment, SEGMENT_SPARE);
    files_has_space_again(journal);
    if (journal->segments.current->file < 0) {
        (void)files_take_spare(journal);
    }
}

static void maintenance_freed(struct journal *journal)
{
    // An incomplete spare had no space to give.
    bool frees = files_of(journal)->freeing->number > 0;

    if (files_of(journal)->freeing->file >= 0) {
        return;
    }
    segment_free(files_of(journal)->freeing);
    files_of(journal)->freeing = NULL;
    // There may now be space for a task that failed.
    journal->maintenance.retry_at = frees ? 0 : journal->maintenance.retry_at;
}

static void maintenance_removed(struct journal *journal)
{
    segment_set_state(journal->segments.removing, SEGMENT_FREEING);
    files_of(journal)->freeing = journal->segments.removing;
    journal->segments.removing = NULL;
    maintenance_freed(journal);
}

// Logged once for as long as it lasts.
static void maintenance_failed(struct journal *journal)
{
    const struct task *task = &journal->slot.task;

    journal->maintenance.retry_at = nsec_add(journal_present(journal), MAINTENANCE_RETRY_FOR);
    journal->counters.errors++;
    if (journal->maintenance.error != task->error || journal->maintenance.kind != task->kind) {
        log_error("journal_care_failed", log_string("what", task->failed),
                  log_number("segment", (int64_t)task->segment->number),
                  log_string("why", strerror(task->error)));
    }
    journal->maintenance.error = task->error;
    journal->maintenance.kind = task->kind;
}

static void maintenance_succeeded(struct journal *journal)
{
    const struct task *task = &journal->slot.task;
    bool part = task->kind == TASK_PREPARE && !files_suffices(journal, task->segment);

    if (journal->maintenance.error && journal->maintenance.kind == task->kind && !part) {
        log_info("journal_care_recovered",
                 log_number("segment", (int64_t)journal->segments.current->number));
        journal->maintenance.error = 0;
    }
}

static void maintenance_not_prepared(struct journal *journal)
{
    struct segment *segment = journal->slot.task.segment;

    if (files_disk_is_full(journal->slot.task.error)) {
        maintenance_no_space(journal);
    } else {
        maintenance_failed(journal);
    }
    files_of(journal)->next = NULL;
    files_of(journal)->freeing = segment;
    segment_set_state(segment, SEGMENT_FREEING);
    maintenance_freed(journal);
}

// The spare remains usable.
static void maintenance_cannot_copy(struct journal *journal)
{
    struct compaction *at = &journal->compaction;

    at->retry_at = nsec_add(journal_present(journal), MAINTENANCE_RETRY_FOR);
    if (!at->told) {
        at->told = true;
        log_warn("journal_cannot_copy", log_number("bytes", (int64_t)at->wants),
                 log_string("why", strerror(journal->slot.task.error)));
    }
}

static void maintenance_not_resized(struct journal *journal)
{
    const struct segment *segment = journal->slot.task.segment;
    bool full = files_disk_is_full(journal->slot.task.error);

    if (full && segment == files_spare(journal) && files_suffices(journal, segment) &&
        files_spare_lacks_copy(journal)) {
        maintenance_cannot_copy(journal);
    } else if (full && (segment == files_spare(journal) || segment == files_too_small(journal))) {
        maintenance_no_space(journal);
    } else {
        maintenance_failed(journal);
    }
    // The records of this segment cannot be written.
    if (segment == files_too_small(journal)) {
        fail_for_now(journal);
    }
}

static void maintenance_take_in_failure(struct journal *journal)
{
    switch (journal->slot.task.kind) {
    case TASK_PREPARE:
        maintenance_not_prepared(journal);
        return;
    case TASK_RESIZE:
        maintenance_not_resized(journal);
        return;
    case TASK_REMOVE:
    case TASK_MANIFEST:
        maintenance_failed(journal);
        return;
    case TASK_RENEW_LEASE:
    case TASK_FREE_SPACE:
    case TASK_WRITE:
    case TASK_SYNC:
        break;
    }
    UNREACHABLE();
}

void files_maintained(struct journal *journal)
{
    const struct task *task = &journal->slot.task;

    if (task->error) {
        maintenance_take_in_failure(journal);
        return;
    }
    if (task->kind == TASK_PREPARE || task->kind == TASK_RESIZE) {
        task->segment->size = task->size;
    }
    maintenance_succeeded(journal);
    switch (task->kind) {
    case TASK_PREPARE:
        maintenance_prepared(journal);
        return;
    case TASK_RESIZE:
        maintenance_resized(journal);
        return;
    case TASK_REMOVE:
        maintenance_removed(journal);
        return;
    case TASK_FREE_SPACE:
        maintenance_freed(journal);
        return;
    case TASK_MANIFEST:
        files_of(journal)->manifest = files_of(journal)->next_manifest;
        return;
    case TASK_RENEW_LEASE:
    case TASK_WRITE:
    case TASK_SYNC:
        break;
    }
    UNREACHABLE();
}
