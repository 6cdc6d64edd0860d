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

#include "journal/file/space.h"

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

// How far one piece takes a size of `from` to `to`.
static uint64_t step(const struct journal *journal, uint64_t from, uint64_t to)
{
    uint64_t most = journal->settings.step_size;

    if (to > from) {
        return to - from > most ? from + most : to;
    }
    return from - to > most ? from - most : to;
}

// What is to be the spare has memory for an id: where it becomes the current segment, there is no
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
