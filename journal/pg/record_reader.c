/* SPDX-License-Identifier: MIT */
#include "journal/pg/record_reader.h"

#include <stdlib.h>
#include <string.h>

// The first size of the buffer for an incomplete record.
enum { PENDING_LEAST = 4096 };
// A larger buffer is freed after use.
#define PENDING_MOST ((size_t)64 * 1024)

void record_reader_begin(struct record_reader *reader, uint64_t salt)
{
    reader->salt = salt;
    reader->at = CODEC_SEGMENT_HEAD;
    reader->filled = 0;
}

void record_reader_clear(struct record_reader *reader)
{
    free(reader->pending);
    memset(reader, 0, sizeof *reader);
}

static bool record_reader_make_room(struct record_reader *reader, size_t size)
{
    char *more;

    if (reader->capacity >= size) {
        return true;
    }
    size = size > PENDING_LEAST ? size : PENDING_LEAST;
    more = realloc(reader->pending, size);
    if (!more) {
        return false;
    }
    reader->pending = more;
    reader->capacity = size;
    return true;
}

// The size of the record at `bytes`; 0: not known yet, or `*bad`.
static size_t record_reader_size(const struct record_reader *reader, const char *bytes, size_t len,
                                 bool *bad)
{
    *bad = len >= CODEC_HEAD && !codec_head_good(bytes, reader->salt, reader->at);
    return len >= CODEC_HEAD && !*bad ? (size_t)codec_record_size(bytes) : 0;
}

struct record_taker {
    bool (*take)(void *context, const struct codec_record *record);
    void *context;
};

static enum record_reader_end record_reader_pass_on(struct record_reader *reader, const char *bytes,
                                                    size_t size, const struct record_taker *taker)
{
    struct codec_record record;

    if (!codec_read(bytes, reader->salt, reader->at, &record)) {
        return RECORD_READER_BAD;
    }
    if (!taker->take(taker->context, &record)) {
        return RECORD_READER_REFUSED;
    }
    reader->at += size;
    return RECORD_READER_DONE;
}

// Keeps bytes until there are `want` of them; returns how many were used, or -1 without memory.
static ptrdiff_t record_reader_keep(struct record_reader *reader, const char *bytes, size_t len,
                                    size_t want)
{
    size_t most = want > reader->filled ? want - reader->filled : 0;

    most = len < most ? len : most;
    if (!record_reader_make_room(reader, want)) {
        return -1;
    }
    memcpy(reader->pending + reader->filled, bytes, most);
    reader->filled += most;
    return (ptrdiff_t)most;
}

// Adds bytes to the incomplete record, and passes it on if it is complete.
static enum record_reader_end record_reader_continue(struct record_reader *reader,
                                                     const char **bytes, size_t *len,
                                                     const struct record_taker *taker)
{
    size_t want = CODEC_HEAD;
    enum record_reader_end end = RECORD_READER_DONE;
    bool bad;

    for (unsigned part = 0; part < 2; part++) {
        ptrdiff_t used = record_reader_keep(reader, *bytes, *len, want);

        if (used < 0) {
            return RECORD_READER_NO_MEMORY;
        }
        *bytes += used;
        *len -= (size_t)used;
        want = record_reader_size(reader, reader->pending, reader->filled, &bad);
        if (bad) {
            return RECORD_READER_BAD;
        }
        if (want == 0) {
            return RECORD_READER_DONE;
        }
    }
    if (reader->filled == want) {
        end = record_reader_pass_on(reader, reader->pending, want, taker);
        // Frees a buffer that was needed for a large record.
        reader->filled = 0;
        if (reader->capacity > PENDING_MOST) {
            free(reader->pending);
            reader->pending = NULL;
            reader->capacity = 0;
        }
    }
    return end;
}

enum record_reader_end
record_reader_add(struct record_reader *reader, const char *bytes, size_t len,
                  bool (*take)(void *context, const struct codec_record *record), void *context)
{
    const struct record_taker taker = {take, context};
    enum record_reader_end end = RECORD_READER_DONE;

    if (reader->filled > 0) {
        end = record_reader_continue(reader, &bytes, &len, &taker);
    }
    while (end == RECORD_READER_DONE && len > 0) {
        bool bad;
        size_t size = record_reader_size(reader, bytes, len, &bad);

        if (bad) {
            return RECORD_READER_BAD;
        }
        if (size == 0 || size > len) {
            return record_reader_keep(reader, bytes, len, size ? size : CODEC_HEAD) < 0
                       ? RECORD_READER_NO_MEMORY
                       : RECORD_READER_DONE;
        }
        end = record_reader_pass_on(reader, bytes, size, &taker);
        bytes += size;
        len -= size;
    }
    return end;
}
