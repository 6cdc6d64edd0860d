/* SPDX-License-Identifier: MIT */
#include "journal/segment.h"

#include "core/base/digits.h"
#include "core/base/memory.h"
#include "core/base/slice.h"
#include "journal/codec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// The largest gap of ids within a run: looking up a missing id costs less than another run.
enum { RUN_GAP = 16 };
// The first capacity of a list, and of a segment's runs.
enum { CAPACITY_FIRST = 8 };

#define NAME_PREFIX "journal."
#define ASIDE_PREFIX "damaged."

void segment_name(uint64_t number, char name[SEGMENT_NAME_MAX])
{
    (void)snprintf(name, SEGMENT_NAME_MAX, NAME_PREFIX "%010" PRIu64, number);
}

void segment_aside_name(uint64_t number, char name[SEGMENT_NAME_MAX])
{
    (void)snprintf(name, SEGMENT_NAME_MAX, ASIDE_PREFIX "%010" PRIu64, number);
}

bool segment_number_of(const char *name, uint64_t *number)
{
    static const struct slice prefix = {NAME_PREFIX, sizeof NAME_PREFIX - 1};
    struct slice text = slice_str(name);
    char same[SEGMENT_NAME_MAX];
    uint64_t read;

    if (text.len < prefix.len || memcmp(text.ptr, prefix.ptr, prefix.len) != 0 ||
        !digits_read(slice_from(text, prefix.len), &read) || read == 0) {
        return false;
    }
    // A number can be written in several ways, but only one of them is the name.
    segment_name(read, same);
    if (strcmp(name, same) != 0) {
        return false;
    }
    *number = read;
    return true;
}

struct segment *segment_new(uint64_t number, uint64_t salt)
{
    struct segment *segment = memory_zeroed_of(MEMORY_JOURNAL, sizeof *segment);

    if (segment) {
        segment->number = number;
        segment->salt = salt;
        segment->file = -1;
    }
    return segment;
}

void segment_free(struct segment *segment)
{
    if (segment) {
        memory_free_of(MEMORY_JOURNAL, segment->runs,
                       segment->run_capacity * sizeof *segment->runs);
        memory_free_of(MEMORY_JOURNAL, segment, sizeof *segment);
    }
}

void segment_set_state(struct segment *segment, enum segment_state state)
{
    static const unsigned after[] = {
        [SEGMENT_PREPARING] = 1u << SEGMENT_SPARE | 1u << SEGMENT_BEGUN | 1u << SEGMENT_PUBLISHED |
                              1u << SEGMENT_FREEING,
        [SEGMENT_SPARE] = 1u << SEGMENT_BEGUN,
        [SEGMENT_BEGUN] = 1u << SEGMENT_PUBLISHED,
        [SEGMENT_PUBLISHED] = 1u << SEGMENT_FAILED | 1u << SEGMENT_REMOVING,
        [SEGMENT_FAILED] = 1u << SEGMENT_REMOVING,
        [SEGMENT_REMOVING] = 1u << SEGMENT_FREEING,
        [SEGMENT_FREEING] = 0,
    };

    ENSURE(after[segment->state] & 1u << state);
    segment->state = state;
}

static size_t segment_capacity_grown(size_t capacity)
{
    return capacity ? capacity + capacity / 2 : CAPACITY_FIRST;
}

bool segment_grow(struct segment *segment)
{
    size_t capacity = segment_capacity_grown(segment->run_capacity);
    struct id_run *runs =
        memory_resize_of(MEMORY_JOURNAL, segment->runs, segment->run_capacity * sizeof *runs,
                         capacity * sizeof *runs);

    if (!runs) {
        return false;
    }
    segment->runs = runs;
    segment->run_capacity = capacity;
    return true;
}

static bool id_run_takes(struct segment *segment, struct id_run *run, uint64_t id)
{
    if (id < run->first || (id > run->last && id - run->last > RUN_GAP)) {
        return false;
    }
    if (id > run->last) {
        segment->looks += id - run->last;
        run->last = id;
    }
    return true;
}

void segment_note_id(struct segment *segment, uint64_t id)
{
    size_t count = segment->run_count;

    // Ids of new jobs alternate with those of copied jobs, both increasing: if only the last run
    // were considered, each id would begin a run.
    for (size_t i = 0; i < 2 && i < count; i++) {
        if (id_run_takes(segment, &segment->runs[count - 1 - i], id)) {
            return;
        }
    }
    ENSURE(count < segment->run_capacity);
    segment->runs[count] = (struct id_run){.first = id, .last = id};
    segment->run_count = count + 1;
    segment->looks++;
}

bool segment_list_grow(struct segment_list *segments)
{
    size_t passed = (size_t)(segments->items - segments->base);
    size_t capacity = segment_capacity_grown(segments->capacity);
    struct segment **base;

    // At least as many items were taken out as are moved, so an addition costs two moves at most.
    if (passed > 0 && passed >= segments->count) {
        memcpy(segments->base, segments->items, segments->count * sizeof(struct segment *));
        segments->items = segments->base;
        return true;
    }
    base = memory_resize_of(MEMORY_JOURNAL, segments->base, segments->capacity * sizeof *base,
                            capacity * sizeof *base);
    if (!base) {
        return false;
    }
    segments->base = base;
    segments->items = base + passed;
    segments->capacity = capacity;
    return true;
}

void segment_list_add(struct segment_list *segments, struct segment *segment)
{
    ENSURE((size_t)(segments->items - segments->base) + segments->count < segments->capacity);
    if (segments->count == 0) {
        segments->first = segment->number;
    }
    ENSURE(segment->number == segments->first + segments->count);
    segments->items[segments->count++] = segment;
}

struct segment *segment_list_shift(struct segment_list *segments)
{
    ENSURE(segments->count > 0);
    segments->count--;
    segments->first++;
    return *segments->items++;
}

struct segment *segment_list_marked(const struct segment_list *segments, uint32_t mark)
{
    uint32_t place = mark - (uint32_t)segments->first;

    return place < segments->count ? segments->items[place] : NULL;
}

void segment_list_clear(struct segment_list *segments)
{
    for (size_t i = 0; i < segments->count; i++) {
        segment_free(segments->items[i]);
    }
    memory_free_of(MEMORY_JOURNAL, segments->base, segments->capacity * sizeof *segments->base);
    *segments = (struct segment_list){0};
}

//
// The segments of the journal
//

bool segments_make_replacement(struct segments *segments)
{
    segments->replacement = segment_new(0, 0);
    return segments->replacement != NULL;
}

void segments_recount(struct segments *segments)
{
    segments->used_before = 0;
    for (size_t i = 0; i + 1 < segments->list.count; i++) {
        segments->used_before += segments->list.items[i]->end;
    }
}

uint64_t segments_bytes(const struct segments *segments)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < segments->list.count; i++) {
        bytes += segments->list.items[i]->end;
    }
    return bytes;
}

// The previous segment may have left the list.
void segments_note_previous(struct segments *segments)
{
    size_t count = segments->list.count;
    const struct segment *before = count > 1 ? segments->list.items[count - 2] : segments->removing;

    if (before) {
        segments->current->previous_end = before->end;
        segments->current->previous_unsure = before->unsure;
    }
    segments_recount(segments);
}

void segments_begin(struct segments *segments, struct segment *next, uint64_t ids_end,
                    uint64_t created_ms)
{
    size_t count = segments->list.count;

    next->number = count ? segments->list.items[count - 1]->number + 1 : 1;
    next->ids_end = ids_end;
    next->created_ms = created_ms;
    next->end = CODEC_SEGMENT_HEAD;
    segment_set_state(next, SEGMENT_BEGUN);
    segment_list_add(&segments->list, next);
    segments->current = next;
    segments_note_previous(segments);
}

// The last one written to may have been emptied and have left the list, while the first in the list
// is not published yet.
struct segment *segments_last_written(const struct segments *segments)
{
    for (size_t i = segments->list.count; i-- > 0;) {
        if (segment_is_published(segments->list.items[i])) {
            return segments->list.items[i];
        }
    }
    return segments->removing;
}

struct segment *segments_syncable(const struct segments *segments)
{
    struct segment *last = segments_last_written(segments);

    return last && last->state != SEGMENT_FAILED && segment_is_open(last) ? last : NULL;
}
