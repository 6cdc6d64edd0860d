/* SPDX-License-Identifier: MIT */
#include "journal/row.h"

#include "journal/codec.h"

bool row_make_replacement(struct row *row)
{
    row->replacement = segment_new(0, 0);
    return row->replacement != NULL;
}

void row_count(struct row *row)
{
    row->used_before = 0;
    for (size_t i = 0; i + 1 < row->segments.count; i++) {
        row->used_before += row->segments.list[i]->end;
    }
}

uint64_t row_bytes(const struct row *row)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < row->segments.count; i++) {
        bytes += row->segments.list[i]->end;
    }
    return bytes;
}

// The one before may have left the row already.
void row_note_previous(struct row *row)
{
    size_t count = row->segments.count;
    const struct segment *before = count > 1 ? row->segments.list[count - 2] : row->removing;

    if (before) {
        row->current->previous_end = before->end;
        row->current->previous_unsure = before->unsure;
    }
    row_count(row);
}

void row_follow(struct row *row, struct segment *next, uint64_t ids_end, uint64_t created_ms)
{
    size_t count = row->segments.count;

    next->number = count ? row->segments.list[count - 1]->number + 1 : 1;
    next->ids_end = ids_end;
    next->created_ms = created_ms;
    next->end = CODEC_SEGMENT_HEAD;
    segments_add(&row->segments, next);
    row->current = next;
    row_note_previous(row);
}

// It may have left the row, as emptied, while the first of the row is still on its way.
struct segment *row_written_last(const struct row *row)
{
    for (size_t i = row->segments.count; i-- > 0;) {
        if (row->segments.list[i]->published) {
            return row->segments.list[i];
        }
    }
    return row->removing;
}

struct segment *row_syncable(const struct row *row)
{
    struct segment *last = row_written_last(row);

    return last && !last->failed && segment_is_open(last) ? last : NULL;
}
