/* SPDX-License-Identifier: MIT */
#include "journal/seal.h"

static char zeros[CHUNK_PADDING_MAX];

void chunk_seal(struct chunk *chunk)
{
    size_t at = 0;

    while (at < chunk->used) {
        char *record = chunk->bytes + at;
        size_t len = chunk->used - at;
        uint64_t size = codec_record_size(record);
        struct slice tail = slice_of(NULL, 0);

        if (size <= len) {
            len = (size_t)size;
        } else {
            ENSURE(chunk->blob && size == chunk_size(chunk) - at);
            tail = blob_slice(chunk->blob);
        }
        codec_seal(record, len, tail, chunk->segment->salt, chunk->offset + at);
        at += len;
    }
}

int chunk_parts(struct chunk *chunk, struct iovec parts[CHUNK_PARTS])
{
    int count = 0;

    parts[count++] = (struct iovec){.iov_base = chunk->bytes, .iov_len = chunk->used};
    if (chunk->blob && chunk->blob->len > 0) {
        parts[count++] =
            (struct iovec){.iov_base = chunk->blob->bytes, .iov_len = chunk->blob->len};
    }
    if (chunk->padding > 0) {
        parts[count++] = (struct iovec){.iov_base = zeros, .iov_len = chunk->padding};
    }
    return count;
}

void segment_put_head(char to[CODEC_SEGMENT_HEAD], const struct segment *segment)
{
    const struct segment_head head = {
        .number = segment->number,
        .salt = segment->salt,
        .previous = segment->number - 1,
        .previous_end = segment->previous_end,
        .previous_unsure = segment->previous_unsure,
        .ids_end = segment->ids_end,
        .created_ms = segment->created_ms,
    };

    codec_put_segment_head(to, &head);
}

void segment_put_unit_head(char to[CODEC_SEGMENT_HEAD], const struct segment *segment)
{
    const struct unit_head head = {
        .number = segment->number,
        .salt = segment->salt,
        .owner = segment->owner,
        .history = segment->history,
        .anew_below = segment->anew_below,
        .ids_end = segment->ids_end,
        .created_ms = segment->created_ms,
    };

    codec_put_unit_head(to, &head);
}
