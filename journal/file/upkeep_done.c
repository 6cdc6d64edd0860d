/* SPDX-License-Identifier: MIT */

// What became of a task of upkeep: a spare that is there or could not be made, a file that is
// larger or gone.

#include "journal/file/upkeep.h"

#include "core/base/log.h"
#include "journal/file/space.h"

#include <string.h>

// How long to wait before a failed piece of upkeep is tried again.
#define UPKEEP_RETRY_FOR NSEC_PER_SEC

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
    case TASK_RENEW:
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
    case TASK_RENEW:
    case TASK_WRITE:
    case TASK_SYNC:
        break;
    }
    UNREACHABLE();
}
