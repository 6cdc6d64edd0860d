/* SPDX-License-Identifier: MIT */
#include "tests/journal/file/files_check.h"

#include "journal/file/files_private.h"

static void check_list(const struct segments *segments)
{
    const struct segment *current = segments->current;

    for (size_t i = 0; i < segments->list.count; i++) {
        const struct segment *segment = segments->list.items[i];

        // Only the current one may have no file yet.
        ENSURE(segment_is_published(segment) || segment == current || segment_is_open(segment));
    }
    ENSURE(!current || current->state == SEGMENT_BEGUN || segment_is_open(current));
}

// The next segment has no number yet. No memory can be allocated when it takes over.
static void check_next(const struct segment *segment, bool busy)
{
    ENSURE(segment->state == SEGMENT_PREPARING || segment->state == SEGMENT_SPARE);
    ENSURE(segment_is_open(segment) || (busy && segment->state == SEGMENT_PREPARING));
    ENSURE(segment->number == 0 && segment->jobs == 0);
    ENSURE(segment->run_capacity > 0);
}

void journal_check_files(const struct journal *journal)
{
    const struct files *files = files_of(journal);

    check_list(&journal->segments);
    if (files->next) {
        check_next(files->next, journal->slot.busy);
    }
    if (files->freeing) {
        ENSURE(files->freeing->state == SEGMENT_FREEING);
        ENSURE(journal->slot.busy || segment_is_open(files->freeing));
    }
    ENSURE(!journal->segments.current ||
           files->manifest.youngest <= journal->segments.current->number);
}
