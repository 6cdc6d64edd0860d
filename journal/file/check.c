/* SPDX-License-Identifier: MIT */
#include "journal/file/check.h"

#include "journal/file/files.h"

// A file that has no place in the row yet. When it takes over, there is no asking for memory.
static void check_waiting(const struct segment *segment)
{
    ENSURE(segment_is_open(segment) && !segment->published);
    ENSURE(segment->number == 0 && segment->jobs == 0);
    ENSURE(segment->run_capacity > 0);
}

static void check_row(const struct journal *journal)
{
    const struct row *row = &journal->row;

    for (size_t i = 0; i < row->segments.count; i++) {
        const struct segment *segment = row->segments.list[i];

        // Only the current one may have no file yet.
        ENSURE(segment->published || segment == row->current || segment_is_open(segment));
    }
    ENSURE(!row->current || !row->current->published || segment_is_open(row->current));
}

void journal_check_files(const struct journal *journal)
{
    const struct files *files = files_of(journal);

    check_row(journal);
    if (files->spare) {
        check_waiting(files->spare);
        ENSURE(!files->making);
    }
    if (files->making) {
        check_waiting(files->making);
    }
    if (files->shedding && !journal->work.busy) {
        ENSURE(segment_is_open(files->shedding));
    }
    ENSURE(!journal->row.current || files->about.youngest <= journal->row.current->number);
}
