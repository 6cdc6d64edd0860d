/* SPDX-License-Identifier: MIT */

// Which segments there are: from the names of files to a list without a gap. And losses: they are
// passed over, and logged, or are the reason not to start.

#include "core/base/log.h"
#include "journal/file/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool replay_loses(struct replay *replay, uint64_t number, uint64_t offset, uint64_t bytes,
                  const char *what)
{
    struct segment *segment =
        segment_list_marked(&replay->journal->segments.list, (uint32_t)number);
    char name[SEGMENT_NAME_MAX];

    segment_name(number, name);
    if (!replay->journal->settings.repair) {
        return error_set(replay->why,
                         "%s is damaged at offset %" PRIu64 ": %s (--repair keeps what is good)",
                         name, offset, what);
    }
    log_warn("journal_lost", log_string("file", name), log_number("offset", (int64_t)offset),
             log_number("bytes", (int64_t)bytes), log_string("why", what));
    replay->damaged = true;
    if (segment) {
        segment->damaged = true;
    }
    return true;
}

bool replay_fails(struct replay *replay, uint64_t number, uint64_t offset, int error)
{
    char name[SEGMENT_NAME_MAX];

    segment_name(number, name);
    if (error == ENOMEM) {
        error_set(replay->why, "out of memory");
    } else {
        error_set(replay->why, "%s: offset %" PRIu64 ": %s", name, offset, strerror(error));
    }
    return false;
}

// If more numbers than that are missing in one gap, the file after them does not belong to the
// journal.
#define GAP_MAX 65536

static void arrange_note_file(void *context, const char *name)
{
    struct replay *replay = context;
    uint64_t number;

    if (strcmp(name, SEGMENT_SPARE_NAME) == 0) {
        replay->spare = true;
    }
    if (!segment_number_of(name, &number)) {
        return;
    }
    if (replay->count == replay->capacity) {
        size_t capacity = replay->capacity ? 2 * replay->capacity : 16;
        struct segment_file *found = realloc(replay->found, capacity * sizeof *found);

        if (!found) {
            replay->no_memory = true;
            return;
        }
        replay->found = found;
        replay->capacity = capacity;
    }
    replay->found[replay->count++] = (struct segment_file){.number = number};
}

static int arrange_by_number(const void *a, const void *b)
{
    uint64_t x = ((const struct segment_file *)a)->number;
    uint64_t y = ((const struct segment_file *)b)->number;

    return (x > y) - (x < y);
}

static bool arrange_list_files(struct replay *replay)
{
    const struct journal_io *io = files_of(replay->journal)->io;
    int error = io->list(io->disk, arrange_note_file, replay);

    if (error || replay->no_memory) {
        return error_set(replay->why, "the directory cannot be listed: %s",
                         strerror(error ? error : ENOMEM));
    }
    if (replay->count > 0) {
        qsort(replay->found, replay->count, sizeof *replay->found, arrange_by_number);
    }
    // The spare of the last process was never written to.
    if (replay->spare) {
        error = io->remove(io->disk, SEGMENT_SPARE_NAME);
        if (error) {
            return error_set(replay->why, SEGMENT_SPARE_NAME " cannot be removed: %s",
                             strerror(error));
        }
    }
    return true;
}

//
// The manifest
//

// A repair ignores a bad manifest: the segments do not need it.
static bool arrange_load_manifest(struct journal *journal, struct error_text *why)
{
    int error;

    switch (manifest_load(&files_of(journal)->manifest, files_of(journal)->io, &error)) {
    case MANIFEST_GOOD:
    case MANIFEST_NONE:
        return true;
    case MANIFEST_OTHER:
        return error_set(why, MANIFEST_NAME ": written by another version");
    case MANIFEST_FAILED:
        error_set(why, MANIFEST_NAME ": %s", strerror(error));
        break;
    case MANIFEST_BAD:
        error_set(why, MANIFEST_NAME " is damaged (--repair ignores it)");
        break;
    }
    if (journal->settings.repair) {
        log_warn("journal_lost", log_string("file", MANIFEST_NAME), log_string("why", "damaged"));
    }
    return journal->settings.repair;
}

//
// Heads
//

static enum codec_head arrange_check_head(struct segment_file *found, const char *bytes)
{
    enum codec_head good = codec_read_segment_head(bytes, &found->head);

    if (good == CODEC_HEAD_GOOD &&
        (found->head.number != found->number || found->head.previous != found->number - 1)) {
        return CODEC_HEAD_BAD;
    }
    return good;
}

// Reads the head of a segment; zeros if the file is too short. False if the disk fails.
static bool arrange_read_head(struct replay *replay, struct segment_file *found,
                              char bytes[CODEC_SEGMENT_HEAD])
{
    char name[SEGMENT_NAME_MAX];
    struct scan *scan = &replay->scan;
    int error;

    segment_name(found->number, name);
    memset(bytes, 0, CODEC_SEGMENT_HEAD);
    error = scan_open(scan, name, &found->size);
    if (error) {
        return replay_fails(replay, found->number, 0, error);
    }
    if (found->size >= CODEC_SEGMENT_HEAD) {
        error = scan_bytes(scan, bytes, CODEC_SEGMENT_HEAD, 0);
    }
    scan_close(scan);
    return error == 0 || replay_fails(replay, found->number, 0, error);
}

static bool arrange_check_file(struct replay *replay, struct segment_file *found)
{
    char bytes[CODEC_SEGMENT_HEAD];
    enum codec_head good;

    if (!arrange_read_head(replay, found, bytes)) {
        return false;
    }
    good = arrange_check_head(found, bytes);
    if (good == CODEC_HEAD_OTHER_VERSION) {
        char name[SEGMENT_NAME_MAX];

        segment_name(found->number, name);
        return error_set(replay->why, "%s: written by another version", name);
    }
    found->headed = good == CODEC_HEAD_GOOD;
    if (!found->headed && replay->journal->settings.repair && codec_mend_segment_head(bytes)) {
        found->headed = arrange_check_head(found, bytes) == CODEC_HEAD_GOOD;
        found->unsound = true;
    }
    return true;
}

//
// Segments that are no longer needed
//

// How far the file may have records: to the end that the head of the next segment gives, if there
// is one, otherwise to the end of the file.
static uint64_t arrange_records_end(const struct replay *replay, size_t place)
{
    const struct segment_file *found = &replay->found[place];
    const struct segment_file *next = found + 1;

    if (place + 1 < replay->count && next->headed && next->number == found->number + 1 &&
        next->head.previous_end < found->size) {
        return next->head.previous_end;
    }
    return found->size;
}

// Whether it is uncertain where its records end: it is the youngest segment, or the head of the
// next one calls its end unsure.
static bool arrange_is_open(const struct replay *replay, size_t place)
{
    return place + 1 == replay->count || replay->found[place + 1].head.previous_unsure;
}

// Looks for records that say up to which number segments are no longer needed, and keeps the
// highest number in replay->dropped. False if the disk fails.
static bool arrange_find_dropped(struct replay *replay, size_t place)
{
    struct scan *scan = &replay->scan;
    const struct segment_file *found = &replay->found[place];
    bool repair = replay->journal->settings.repair;
    char name[SEGMENT_NAME_MAX];
    struct codec_record record;
    enum scan_step step;
    uint64_t size;
    int error;

    segment_name(found->number, name);
    error = scan_open(scan, name, &size);
    if (error) {
        return replay_fails(replay, found->number, 0, error);
    }
    scan->limit = arrange_records_end(replay, place);
    scan_start(scan, CODEC_SEGMENT_HEAD, found->head.salt);
    do {
        // If the end is uncertain, there may be a torn record, after which nothing counts: each
        // record is checked completely. Otherwise its head is enough.
        step = arrange_is_open(replay, place) ? scan_next(scan, &record)
                                              : scan_next_of(scan, CODEC_DROPPED, &record);
        if (step == SCAN_BAD && repair) {
            step = scan_search(scan, scan->limit, &record);
        }
        if (step == SCAN_RECORD && record.type == CODEC_DROPPED && record.number < found->number &&
            record.number > replay->dropped) {
            replay->dropped = record.number;
        }
    } while (step == SCAN_RECORD);
    scan_close(scan);
    return step != SCAN_FAILED || replay_fails(replay, found->number, scan->error_at, scan->error);
}

static bool arrange_is_whole(const struct replay *replay)
{
    return replay->found[0].number == 1 && replay->found[replay->count - 1].number == replay->count;
}

// The lowest number from which on no file is missing, up to the youngest.
static uint64_t arrange_first_without_gap(const struct replay *replay)
{
    size_t place = replay->count - 1;

    while (place > 0 && replay->found[place - 1].number + 1 == replay->found[place].number) {
        place--;
    }
    return replay->found[place].number;
}

// The number of files that are not needed. A repair reads those of them after which no file is
// missing: younger records supersede theirs, so they do no harm, and they may have what is lost
// elsewhere.
static size_t arrange_count_dropped(const struct replay *replay)
{
    bool repair = replay->journal->settings.repair;
    uint64_t end = repair ? arrange_first_without_gap(replay) : UINT64_MAX;
    size_t count = 0;

    while (count < replay->count && replay->found[count].number <= replay->dropped &&
           replay->found[count].number < end) {
        count++;
    }
    return count;
}

// Takes the files that are not needed out of the list. Segments are dropped oldest first, so the
// youngest record of that kind has the highest number, and no segment before it need be searched.
static bool arrange_leave_out_dropped(struct replay *replay)
{
    size_t place = replay->count;

    while (place-- > 0 && replay->dropped == 0) {
        if (replay->found[place].headed && !arrange_find_dropped(replay, place)) {
            return false;
        }
    }
    replay->gone = arrange_count_dropped(replay);
    replay->count -= replay->gone;
    replay->found += replay->gone;
    return true;
}

void arrange_remove_dropped(const struct replay *replay)
{
    const struct journal_io *io = files_of(replay->journal)->io;

    for (size_t i = replay->gone; i > 0; i--) {
        char name[SEGMENT_NAME_MAX];

        segment_name((replay->found - i)->number, name);
        if (io->remove(io->disk, name) != 0) {
            log_warn("journal_kept", log_string("file", name));
        }
    }
}

//
// The list
//

// The segments from `first` on, before `end`, have no file. False if that is not passed over.
static bool arrange_pass_missing(struct replay *replay, uint64_t first, uint64_t end)
{
    if (end - first > GAP_MAX) {
        char name[SEGMENT_NAME_MAX];

        segment_name(end, name);
        return error_set(replay->why, "%s does not belong to this journal", name);
    }
    while (first < end && replay_loses(replay, first, 0, 0, "the file is missing")) {
        first++;
    }
    return first == end;
}

static bool arrange_add(struct replay *replay, uint64_t number, const struct segment_file *found)
{
    struct segment_list *segments = &replay->journal->segments.list;
    struct segment *segment = segment_new(number, found ? found->head.salt : 0);

    if (!segment || !segment_list_make_room(segments)) {
        segment_free(segment);
        return error_set(replay->why, "out of memory");
    }
    segment_set_state(segment, SEGMENT_PUBLISHED);
    if (found) {
        segment->size = found->size;
        segment->previous_end = found->head.previous_end;
        segment->previous_unsure = found->head.previous_unsure;
        segment->ids_end = found->head.ids_end;
    }
    segment_list_add(segments, segment);
    return true;
}

// Segments from `next` on, after the last file, are missing if the manifest knows them. False if
// that is not passed over.
static bool arrange_no_younger_is_missing(struct replay *replay, uint64_t next)
{
    uint64_t youngest = files_of(replay->journal)->manifest.youngest;

    // Without any file it is unknown which of them had been dropped: one is reported.
    next = replay->count == 0 && youngest > 0 ? youngest : next;
    return youngest == 0 || youngest < next || arrange_pass_missing(replay, next, youngest + 1);
}

static bool arrange_check_list(struct replay *replay)
{
    uint64_t next = replay->count ? replay->found[0].number : 0;

    // It is unknown how many are missing before the oldest file: only they could tell.
    if (next > replay->dropped + 1 &&
        !replay_loses(replay, next - 1, 0, 0, "the file is missing")) {
        return false;
    }
    for (size_t i = 0; i < replay->count; i++) {
        struct segment_file *found = &replay->found[i];

        if (!arrange_pass_missing(replay, next, found->number)) {
            return false;
        }
        if (!found->headed || found->unsound) {
            uint64_t lost = found->headed ? CODEC_SEGMENT_HEAD : found->size;

            if (!replay_loses(replay, found->number, 0, lost, "its head has a wrong checksum")) {
                return false;
            }
            found->unsound = true;
        }
        next = found->number + 1;
    }
    return arrange_no_younger_is_missing(replay, next);
}

struct segment_file *arrange_find(struct replay *replay, uint64_t number)
{
    size_t low = 0;
    size_t high = replay->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (replay->found[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < replay->count && replay->found[low].number == number ? &replay->found[low] : NULL;
}

// Makes an entry for each number up to the youngest that is known, with or without a file, so that
// no number is used twice.
static bool arrange_make_list(struct replay *replay)
{
    uint64_t known = files_of(replay->journal)->manifest.youngest;
    uint64_t first = replay->count ? replay->found[0].number : known;
    uint64_t last = replay->count ? replay->found[replay->count - 1].number : known;

    last = known > last ? known : last;
    for (uint64_t number = first; number > 0 && number <= last; number++) {
        if (!arrange_add(replay, number, arrange_find(replay, number))) {
            return false;
        }
    }
    return true;
}

bool arrange_segments(struct replay *replay)
{
    if (!arrange_list_files(replay) || !arrange_load_manifest(replay->journal, replay->why)) {
        return false;
    }
    for (size_t i = 0; i < replay->count; i++) {
        if (!arrange_check_file(replay, &replay->found[i])) {
            return false;
        }
    }
    if (replay->count > 0 && !arrange_is_whole(replay) && !arrange_leave_out_dropped(replay)) {
        return false;
    }
    return arrange_check_list(replay) && arrange_make_list(replay);
}
