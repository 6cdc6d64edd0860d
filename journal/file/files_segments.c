/* SPDX-License-Identifier: MIT */

// Segments in files: the spare, space for records, and a segment that fails.

#include "core/base/hash.h"
#include "core/base/log.h"
#include "journal/file/files_private.h"
#include "journal/space.h"

#include <errno.h>
#include <string.h>

void files_close_segment(const struct journal *journal, struct segment *segment)
{
    const struct journal_io *io = files_of(journal)->io;

    if (segment_is_open(segment)) {
        io->close(io->disk, segment->file);
        segment->file = -1;
    }
}

uint64_t files_draw_salt(struct journal *journal)
{
    return hash_mix(journal->settings.secret + files_of(journal)->salts++);
}

bool files_disk_is_full(int error)
{
    return error == ENOSPC || error == EDQUOT;
}

void files_follow(struct journal *journal, struct segment *next)
{
    segments_begin(&journal->segments, next, journal->ids.asked,
                   (uint64_t)(broker_now(journal->broker).wall / NSEC_PER_MSEC));
}

bool files_take_spare(struct journal *journal)
{
    struct files *files = files_of(journal);
    struct segment *current = journal->segments.current;
    struct segment *spare = files_spare(journal);

    if (!spare) {
        return false;
    }
    current->file = spare->file;
    current->size = spare->size;
    current->salt = spare->salt;
    segment_free(spare);
    files->next = NULL;
    return true;
}

//
// Space
//

// Records that exceed a segment may take this share of the free disk space.
enum { OVERFLOW_SHARE = 4 };

bool files_next_fits(const struct journal *journal, uint64_t size, uint64_t beside)
{
    const struct segment *spare = files_spare(journal);

    return spare && space_fits(journal, spare, CODEC_SEGMENT_HEAD, size, beside);
}

// The size beside reserved bytes of a file whose first record has that size.
static uint64_t files_with_first(uint64_t size)
{
    return CODEC_SEGMENT_HEAD + size + CODEC_NUMBER_SIZE + SPACE_SLACK;
}

// Whether the record begins a file, the spare, which is enlarged before it is written: it does not
// fit into a segment of the usual size, not even an empty one.
static bool files_begins_file(const struct journal *journal, uint64_t size)
{
    return files_spare(journal) &&
           files_with_first(size) + RESERVED_END + RESERVED_BURIAL > journal->settings.segment_size;
}

// Records that exceed a segment must find disk space later: there must be plenty now.
static bool files_may_overflow(const struct journal *journal, uint64_t size)
{
    bool begins = files_begins_file(journal, size);
    const struct segment *segment = begins ? files_spare(journal) : journal->segments.current;
    uint64_t end = begins ? CODEC_SEGMENT_HEAD : segment->end;
    uint64_t wanted = end + journal->ledger.reserved + size + SPACE_SLACK;
    uint64_t beyond = wanted > segment->size ? wanted - segment->size : 0;

    return beyond == 0 ||
           beyond <= files_of(journal)->io->space(files_of(journal)->io->disk) / OVERFLOW_SHARE;
}

bool files_can_take(const struct journal *journal, uint64_t size, uint64_t extra)
{
    return files_next_fits(journal, size, extra + SPACE_SLACK) ||
           files_may_overflow(journal, size + extra);
}

// The size that a segment must have for its records and, if it is the current one, the reserved
// bytes.
static uint64_t files_least_size(const struct journal *journal, const struct segment *segment)
{
    return segment->end + (segment == journal->segments.current ? journal->ledger.reserved : 0);
}

struct segment *files_too_small(const struct journal *journal)
{
    for (size_t i = journal->segments.list.count; i-- > 0;) {
        struct segment *segment = journal->segments.list.items[i];

        if (files_least_size(journal, segment) > segment->size &&
            segment->state != SEGMENT_FAILED) {
            return segment;
        }
        if (segment_is_published(segment)) {
            break;
        }
    }
    return NULL;
}

uint64_t files_wanted(const struct journal *journal, const struct segment *segment)
{
    uint64_t least = files_least_size(journal, segment);

    // After a failure, no more than the minimum is asked for.
    return journal->failure.count > 0 ? least : least + journal->settings.segment_size / 4;
}

// The size beside reserved bytes that a file needs for the record that compaction waits to copy.
static uint64_t files_copy_needs(const struct journal *journal)
{
    size_t size = journal->compaction.wants;

    return size ? files_with_first(size) : 0;
}

bool files_suffices(const struct journal *journal, const struct segment *spare)
{
    return spare->size >= journal->settings.segment_size + journal->ledger.reserved;
}

static uint64_t files_with_reserved(const struct journal *journal, uint64_t size)
{
    return size + journal->ledger.reserved + journal->ledger.reserved / 8;
}

uint64_t files_file_size(const struct journal *journal)
{
    return files_with_reserved(journal, journal->settings.segment_size);
}

uint64_t files_spare_size(const struct journal *journal)
{
    uint64_t size = journal->settings.segment_size;
    uint64_t copy = files_copy_needs(journal);

    return files_with_reserved(journal, copy > size ? copy : size);
}

bool files_spare_lacks_copy(const struct journal *journal)
{
    const struct segment *spare = files_spare(journal);

    return spare && spare->size < files_copy_needs(journal) + journal->ledger.reserved;
}

void files_move_on(struct journal *journal, uint64_t size, uint64_t extra)
{
    if (files_next_fits(journal, size, extra + SPACE_SLACK) ||
        (files_begins_file(journal, size) &&
         !space_fits_current(journal, size, extra + SPACE_SLACK / 2))) {
        struct segment *spare = files_spare(journal);

        files_of(journal)->next = NULL;
        files_follow(journal, spare);
    }
}

static uint64_t files_size_of(const struct segment *segment)
{
    return segment ? segment->size : 0;
}

uint64_t files_bytes(const struct journal *journal)
{
    const struct files *files = files_of(journal);
    uint64_t bytes = files_size_of(files->next) + files_size_of(journal->segments.removing) +
                     files_size_of(files->freeing);

    for (size_t i = 0; i < journal->segments.list.count; i++) {
        bytes += journal->segments.list.items[i]->size;
    }
    return bytes;
}

//
// A segment that cannot be written or synced
//

// If nothing is kept until it is synced, what compaction has copied may be lost with the failed
// segment: the file that it came from stays, and the next start reads it.
static void files_keep_removed(struct journal *journal)
{
    struct segment *removing = journal->segments.removing;

    if (journal->settings.sync_every_for == NSEC_NEVER && removing) {
        log_warn("journal_kept", log_number("segment", (int64_t)removing->number));
        files_close_segment(journal, removing);
        segment_free(removing);
        journal->segments.removing = NULL;
    }
}

// If nothing is kept until it is synced, the failed segment's bytes before its end cannot be
// written again, and a power failure may take them, as the head of the next segment says. The live
// content of this segment and those before it is rewritten in the course of compaction.
static void files_note_unsure(struct journal *journal, struct segment *bad,
                              const struct segment *next)
{
    bad->unsure = bad->end > CODEC_SEGMENT_HEAD && bad->end > bad->synced;
    if (bad->unsure) {
        log_warn("journal_unsure", log_number("segment", (int64_t)bad->number),
                 log_number("from", (int64_t)bad->synced), log_number("to", (int64_t)bad->end));
        journal->segments.rewrite_from = next->number;
    }
}

// The replacement exists: no task is given without it.
static struct segment *files_replace(struct journal *journal, struct segment *bad)
{
    struct files *files = files_of(journal);
    struct segment *current = journal->segments.current;
    struct segment *next;

    if (!segment_is_published(current)) {
        if (bad == current && segment_is_open(current)) {
            files_close_segment(journal, current);
            current->size = 0;
        }
        return current;
    }
    next = files_spare(journal) ? files->next : journal->segments.replacement;
    ENSURE(next);
    if (next == files->next) {
        files->next = NULL;
    } else {
        journal->segments.replacement = NULL;
    }
    files_follow(journal, next);
    return next;
}

// The segment is given up, and another one takes over.
void files_write_failed(struct journal *journal)
{
    const struct task *task = &journal->slot.task;
    struct segment *bad = task->bad ? task->bad : journal->segments.current;
    struct segment *next;

    fail_count(journal, bad);
    files_keep_removed(journal);
    fail_take_back(journal);
    next = files_replace(journal, bad);
    if (bad != next) {
        segment_set_state(bad, SEGMENT_FAILED);
        files_note_unsure(journal, bad, next);
    }
    fail_move_to(journal, next);
}
