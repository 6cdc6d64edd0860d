/* SPDX-License-Identifier: MIT */

// Reads segments back, each from its head to the end of its records. The head of the next segment
// defines that end, so anything invalid before it is damage. The youngest segment ends at the first
// invalid record: a batch that was being written at a power failure is torn there, and what follows
// was never acknowledged. But if a later record says that the segment had been synced beyond that
// place, it is damage.

#include "core/base/log.h"
#include "journal/file/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// After this many records the number of jobs is published.
enum { RECORDS_TOLD = 1024 };

// A segment that is being read.
struct segment_reading {
    struct replay *replay;
    struct scan *scan;
    struct segment *segment;
    bool open_end;     // it is uncertain where its records end
    uint64_t synced;   // how far it was synced, by its records
    uint64_t closed;   // where the journal was closed; 0: it was not, or not here
    uint64_t rest_end; // with `open_end`, after an invalid record: only zeros follow
};

static bool replay_scan_fails(struct segment_reading *reading)
{
    return replay_fails(reading->replay, reading->segment->number, reading->scan->error_at,
                        reading->scan->error);
}

// What follows an invalid record in the youngest segment.
struct replay_rest {
    uint64_t records;
    bool was_synced; // ... up to beyond the invalid record
};

static bool replay_examine_rest(struct segment_reading *reading, struct replay_rest *rest)
{
    struct scan *scan = reading->scan;
    uint64_t at = scan->at;
    struct codec_record record;
    enum scan_step step;

    *rest = (struct replay_rest){0};
    do {
        step = scan_next(scan, &record);
        if (step == SCAN_BAD) {
            step = scan_search(scan, reading->rest_end, &record);
        }
        if (step == SCAN_RECORD) {
            rest->records++;
            rest->was_synced |= record.type == CODEC_SYNCED && record.number > at;
        }
    } while (step == SCAN_RECORD);
    scan->at = at;
    return step == SCAN_END || replay_scan_fails(reading);
}

// Decides whether the segment has a torn end here, `*torn`, or is damaged.
static bool replay_judge_end(struct segment_reading *reading, bool *torn)
{
    struct scan *scan = reading->scan;
    char name[SEGMENT_NAME_MAX];
    struct replay_rest rest;

    if (reading->rest_end == 0 && !scan_rest(scan, &reading->rest_end)) {
        return replay_scan_fails(reading);
    }
    *torn = reading->rest_end <= scan->at && scan->at >= reading->closed;
    if (*torn || scan->at < reading->closed || reading->segment->damaged) {
        return true;
    }
    if (!replay_examine_rest(reading, &rest)) {
        return false;
    }
    // A repair keeps all valid records.
    *torn = !rest.was_synced && !(rest.records > 0 && reading->replay->journal->settings.repair);
    if (*torn) {
        segment_name(reading->segment->number, name);
        log_warn("journal_torn", log_string("file", name), log_number("offset", (int64_t)scan->at),
                 log_number("bytes", (int64_t)(reading->rest_end - scan->at)),
                 log_number("records", (int64_t)rest.records));
    }
    return true;
}

// A record is invalid. Continues after it if possible. SCAN_END: the segment ends.
static enum scan_step replay_pass_over(struct segment_reading *reading, struct codec_record *record)
{
    struct scan *scan = reading->scan;
    uint64_t at = scan->at;
    uint64_t until = scan->limit;
    enum scan_step step = SCAN_END;
    bool torn = false;

    if (reading->open_end) {
        if (!replay_judge_end(reading, &torn)) {
            return SCAN_FAILED;
        }
        until = reading->rest_end > at ? reading->rest_end : scan->limit;
    }
    if (torn) {
        return SCAN_END;
    }
    if (reading->replay->journal->settings.repair) {
        step = scan_search(scan, until, record);
        if (step == SCAN_FAILED) {
            (void)replay_scan_fails(reading);
            return SCAN_FAILED;
        }
    }
    until = step == SCAN_RECORD ? scan->record_at : until;
    return replay_loses(reading->replay, reading->segment->number, at, until - at,
                        "a record has a wrong checksum")
               ? step
               : SCAN_FAILED;
}

static enum scan_step replay_next_record(struct segment_reading *reading,
                                         struct codec_record *record)
{
    enum scan_step step = scan_next(reading->scan, record);

    if (step == SCAN_FAILED) {
        (void)replay_scan_fails(reading);
    }
    return step == SCAN_BAD ? replay_pass_over(reading, record) : step;
}

static uint64_t replay_count_jobs(const struct replay *replay)
{
    struct broker_info info;

    broker_info(replay->journal->broker, &info);
    return info.jobs[JOB_READY] + info.jobs[JOB_DELAYED] + info.jobs[JOB_BURIED];
}

static void replay_note_record(struct replay *replay)
{
    replay->records++;
    if (replay->records % RECORDS_TOLD == 0) {
        progress_set_jobs(&replay->journal->progress, replay_count_jobs(replay));
    }
}

static bool replay_apply(struct segment_reading *reading, const struct codec_record *record)
{
    struct replay *replay = reading->replay;
    struct scan *scan = reading->scan;

    switch (apply_record(replay->journal, &replay->seen, reading->segment, record)) {
    case APPLIED:
        replay_note_record(replay);
        return true;
    case APPLIED_NOT:
        return replay_loses(replay, reading->segment->number, scan->record_at,
                            scan->at - scan->record_at, "a record is impossible at this place");
    case APPLIED_NO_MEMORY:
        return replay_fails(replay, reading->segment->number, scan->record_at, ENOMEM);
    }
    UNREACHABLE();
}

static bool replay_read_records(struct segment_reading *reading)
{
    struct codec_record record;
    enum scan_step step;

    reading->segment->end = reading->scan->at;
    while ((step = replay_next_record(reading, &record)) == SCAN_RECORD) {
        reading->segment->end = reading->scan->at;
        if (record.type == CODEC_SYNCED && record.number > reading->synced) {
            reading->synced = record.number;
        }
        if (!replay_apply(reading, &record)) {
            return false;
        }
    }
    reading->replay->bytes += reading->segment->end;
    return step == SCAN_END;
}

// What was read may be in the system's memory only. After a failed sync it stays there, and the
// system takes it for written: all bytes that no record calls synced are written again. If
// something is lost, all live content is rewritten to another file before any client is served, so
// this one need not be synced.
static bool replay_sync_youngest(struct segment_reading *reading)
{
    struct scan *scan = reading->scan;
    int error;

    if (reading->replay->damaged) {
        return true;
    }
    error = scan_write_back(scan, reading->synced, reading->segment->end);
    if (error == 0) {
        error = scan->io->sync(scan->io->disk, scan->file);
    }
    return error == 0 || replay_fails(reading->replay, reading->segment->number, 0, error);
}

// The end that the head of the next segment gives, if that is known. False if the records may end
// before it.
static bool replay_end_known(struct replay *replay, const struct segment *segment, uint64_t *end)
{
    const struct segment_file *next = arrange_find(replay, segment->number + 1);

    if (!next || !next->headed) {
        return false;
    }
    if (next->head.previous_unsure) {
        *end = next->head.previous_end < *end ? next->head.previous_end : *end;
        return false;
    }
    *end = next->head.previous_end;
    return true;
}

// A segment that could not be synced may be in the system's memory only: its content is rewritten
// in the course of compaction.
static void replay_renew_unsure(const struct segment_reading *reading, bool youngest)
{
    struct journal *journal = reading->replay->journal;

    if (reading->open_end && !youngest) {
        journal->segments.rewrite_from = reading->segment->number + 1;
    }
}

// A journal that was closed has all of its records.
static bool replay_reaches_its_end(struct segment_reading *reading)
{
    const struct segment *segment = reading->segment;

    return segment->end >= reading->closed ||
           replay_loses(reading->replay, segment->number, segment->end,
                        reading->closed - segment->end, "the file is too short");
}

static bool replay_read_open(struct segment_reading *reading, bool youngest)
{
    struct scan *scan = reading->scan;
    struct segment *segment = reading->segment;
    uint64_t end = scan->limit;

    reading->open_end = !replay_end_known(reading->replay, segment, &end);
    if (end > scan->limit && !replay_loses(reading->replay, segment->number, scan->limit,
                                           end - scan->limit, "the file is too short")) {
        return false;
    }
    scan->limit = end < scan->limit ? end : scan->limit;
    if (!replay_read_records(reading) || !replay_reaches_its_end(reading) ||
        (youngest && !replay_sync_youngest(reading))) {
        return false;
    }
    replay_renew_unsure(reading, youngest);
    segment->written = segment->end;
    segment->synced = segment->end;
    return true;
}

static bool replay_read_segment(struct replay *replay, struct segment *segment, bool youngest)
{
    struct segment_reading reading = {.replay = replay, .scan = &replay->scan, .segment = segment};
    const struct segment_file *found = arrange_find(replay, segment->number);
    char name[SEGMENT_NAME_MAX];
    uint64_t size;
    bool good;
    int error;

    if (!found || !found->headed) {
        segment->damaged = found != NULL;
        return true;
    }
    segment->damaged = found->unsound;
    if (replay->seen.ids_end < segment->ids_end) {
        replay->seen.ids_end = segment->ids_end;
    }
    segment_name(segment->number, name);
    error = scan_open(&replay->scan, name, &size);
    if (error) {
        return replay_fails(replay, segment->number, 0, error);
    }
    scan_start(&replay->scan, CODEC_SEGMENT_HEAD, segment->salt);
    if (youngest && files_of(replay->journal)->manifest.youngest == segment->number) {
        reading.closed = files_of(replay->journal)->manifest.end;
    }
    good = replay_read_open(&reading, youngest);
    scan_close(&replay->scan);
    return good;
}

// Bytes of all files to be read.
static uint64_t replay_size_of_all(const struct replay *replay)
{
    uint64_t size = 0;

    for (size_t i = 0; i < replay->count; i++) {
        size += replay->found[i].size;
    }
    return size;
}

static bool replay_read_all(struct replay *replay)
{
    const struct segment_list *segments = &replay->journal->segments.list;

    progress_begin(&replay->journal->progress, replay_size_of_all(replay));
    for (size_t i = 0; i < segments->count; i++) {
        if (!replay_read_segment(replay, segments->items[i], i + 1 == segments->count)) {
            return false;
        }
    }
    replay->seen.ids_end += replay->damaged ? IDS_LOST : 0;
    return true;
}

static void replay_report(const struct replay *replay, nsec_t began_at)
{
    uint64_t jobs = replay_count_jobs(replay);

    progress_set_jobs(&replay->journal->progress, jobs);
    log_info("journal_replayed", log_number("jobs", (int64_t)jobs),
             log_number("records", (int64_t)replay->records),
             log_number("segments", (int64_t)replay->journal->segments.list.count),
             log_number("bytes", (int64_t)replay->bytes),
             log_number("ms", (replay->journal->settings.now() - began_at) / NSEC_PER_MSEC));
}

bool replay_files(struct journal *journal, struct restored *restored, struct error_text *why)
{
    nsec_t began_at = journal->settings.now();
    struct replay replay = {.journal = journal, .why = why};
    bool good = false;

    if (!scan_begin(&replay.scan, files_of(journal)->io, journal->settings.segment_size,
                    &journal->progress)) {
        return error_set(why, "out of memory");
    }
    replay.scan.pass_over = journal->settings.repair;
    if (arrange_segments(&replay) && replay_read_all(&replay)) {
        if (journal->segments.rewrite_from == 0) {
            arrange_remove_dropped(&replay);
        }
        *restored = (struct restored){.ids_end = replay.seen.ids_end, .damaged = replay.damaged};
        replay_report(&replay, began_at);
        good = true;
    }
    scan_finish(&replay.scan);
    if (replay.found) {
        free(replay.found - replay.gone);
    }
    return good;
}
