/* SPDX-License-Identifier: MIT */
#include "journal/pg/feed.h"

#include <stdlib.h>
#include <string.h>

// How much is set aside for what is left of a row, at first.
enum { PENDING_LEAST = 4096 };
// More is given back when it is not needed.
#define PENDING_MOST ((size_t)64 * 1024)

void feed_begin(struct feed *feed, uint64_t salt)
{
    feed->salt = salt;
    feed->at = CODEC_SEGMENT_HEAD;
    feed->filled = 0;
}

void feed_clear(struct feed *feed)
{
    free(feed->pending);
    memset(feed, 0, sizeof *feed);
}

static bool make_room(struct feed *feed, size_t size)
{
    char *more;

    if (feed->capacity >= size) {
        return true;
    }
    size = size > PENDING_LEAST ? size : PENDING_LEAST;
    more = realloc(feed->pending, size);
    if (!more) {
        return false;
    }
    feed->pending = more;
    feed->capacity = size;
    return true;
}

// What is set aside for a large record is given back.
static void empty(struct feed *feed)
{
    feed->filled = 0;
    if (feed->capacity > PENDING_MOST) {
        free(feed->pending);
        feed->pending = NULL;
        feed->capacity = 0;
    }
}

// The size of the record that begins there; 0: that is not known yet, or `*bad`.
static size_t size_at(const struct feed *feed, const char *bytes, size_t len, bool *bad)
{
    *bad = len >= CODEC_HEAD && !codec_head_good(bytes, feed->salt, feed->at);
    return len >= CODEC_HEAD && !*bad ? (size_t)codec_record_size(bytes) : 0;
}

struct taker {
    bool (*take)(void *context, const struct codec_record *record);
    void *context;
};

static enum feed_end hand_on(struct feed *feed, const char *bytes, size_t size,
                             const struct taker *taker)
{
    struct codec_record record;

    if (!codec_read(bytes, feed->salt, feed->at, &record)) {
        return FEED_BAD;
    }
    if (!taker->take(taker->context, &record)) {
        return FEED_REFUSED;
    }
    feed->at += size;
    return FEED_DONE;
}

// Keeps bytes until there are `want` of them; how many were used, or -1 without memory.
static ptrdiff_t keep(struct feed *feed, const char *bytes, size_t len, size_t want)
{
    size_t most = want > feed->filled ? want - feed->filled : 0;

    most = len < most ? len : most;
    if (!make_room(feed, want)) {
        return -1;
    }
    memcpy(feed->pending + feed->filled, bytes, most);
    feed->filled += most;
    return (ptrdiff_t)most;
}

// The record that has begun is made whole, or longer by all that there is.
static enum feed_end go_on(struct feed *feed, const char **bytes, size_t *len,
                           const struct taker *taker)
{
    size_t want = CODEC_HEAD;
    enum feed_end end = FEED_DONE;
    bool bad;

    for (unsigned part = 0; part < 2; part++) {
        ptrdiff_t used = keep(feed, *bytes, *len, want);

        if (used < 0) {
            return FEED_NO_MEMORY;
        }
        *bytes += used;
        *len -= (size_t)used;
        want = size_at(feed, feed->pending, feed->filled, &bad);
        if (bad) {
            return FEED_BAD;
        }
        if (want == 0) {
            return FEED_DONE;
        }
    }
    if (feed->filled == want) {
        end = hand_on(feed, feed->pending, want, taker);
        empty(feed);
    }
    return end;
}

enum feed_end feed_rows(struct feed *feed, const char *bytes, size_t len,
                        bool (*take)(void *context, const struct codec_record *record),
                        void *context)
{
    const struct taker taker = {take, context};
    enum feed_end end = FEED_DONE;

    if (feed->filled > 0) {
        end = go_on(feed, &bytes, &len, &taker);
    }
    while (end == FEED_DONE && len > 0) {
        bool bad;
        size_t size = size_at(feed, bytes, len, &bad);

        if (bad) {
            return FEED_BAD;
        }
        if (size == 0 || size > len) {
            return keep(feed, bytes, len, size ? size : CODEC_HEAD) < 0 ? FEED_NO_MEMORY
                                                                        : FEED_DONE;
        }
        end = hand_on(feed, bytes, size, &taker);
        bytes += size;
        len -= size;
    }
    return end;
}
