/* SPDX-License-Identifier: MIT */
#include "transfer/beanstalkd/binlog_scan.h"

#include "core/base/siphash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

// Limits of a slice.
enum { SLICE_BYTES = 1 << 20, SLICE_RECORDS = 4096 };
// beanstalkd never reaches a larger id. Ids of this broker have 48 bits, and new jobs need some.
#define BINLOG_ID_MAX (UINT64_C(1) << 47)
// File systems write pages of this size or larger powers of two.
#define PAGE_SIZE UINT64_C(4096)

// The current record.
struct scan_record {
    struct binlog_fields fields;
    size_t head; // number of bytes before the body
    uint64_t end;
    struct slice name; // borrowed from the window
    uint64_t fields_at;
    uint64_t mark;
};

//
// The index
//

void binlog_index_init(struct binlog_index *index)
{
    uint64_t secret;

    *index = (struct binlog_index){.count = 0};
    // Without a random secret, a crafted binlog is slow to read, nothing worse.
    if (getrandom(&secret, sizeof secret, GRND_NONBLOCK) != (ssize_t)sizeof secret) {
        secret = (uintptr_t)index;
    }
    slab_init(&index->slab);
    id_map_init(&index->jobs, &index->slab, secret);
}

void binlog_index_clear(struct binlog_index *index)
{
    struct id_walk walk = {.over = false};

    while (!walk.over) {
        struct binlog_job *job = id_map_next(&index->jobs, &walk);

        slab_free(&index->slab, job, sizeof *job);
    }
    id_map_clear(&index->jobs);
    slab_clear(&index->slab);
    free(index->sorted);
    *index = (struct binlog_index){.count = 0};
}

static struct binlog_job *binlog_index_add(struct binlog_index *index, uint64_t id)
{
    struct binlog_job *job =
        id_map_make_room(&index->jobs) ? slab_calloc(&index->slab, sizeof *job) : NULL;

    if (job) {
        job->id = id;
        job->order = index->orders++;
        id_map_insert(&index->jobs, id, job);
    }
    return job;
}

static void binlog_index_remove(struct binlog_index *index, struct binlog_job *job)
{
    id_map_remove(&index->jobs, job->id);
    slab_free(&index->slab, job, sizeof *job);
}

static int compare_binlog_jobs(const void *a, const void *b)
{
    const struct binlog_job *left = *(struct binlog_job *const *)a;
    const struct binlog_job *right = *(struct binlog_job *const *)b;

    if (left->buried != right->buried) {
        return left->buried ? 1 : -1;
    }
    if (left->buried) {
        return (left->order > right->order) - (left->order < right->order);
    }
    return (left->id > right->id) - (left->id < right->id);
}

bool binlog_index_sort(struct binlog_index *index)
{
    size_t count = id_map_count(&index->jobs);
    struct id_walk walk = {.over = false};

    if (count == 0) {
        return true;
    }
    index->sorted = malloc(count * sizeof(struct binlog_job *));
    if (!index->sorted) {
        return false;
    }
    while (!walk.over) {
        struct binlog_job *job = id_map_next(&index->jobs, &walk);

        if (job) {
            index->sorted[index->count++] = job;
        }
    }
    qsort(index->sorted, count, sizeof(struct binlog_job *), compare_binlog_jobs);
    return true;
}

uint64_t binlog_index_hash(const struct binlog_index *index)
{
    // A fixed key, because the hash must be the same at the next start. It needs no secret.
    struct siphash_key key = {{UINT64_C(0x62696e6c6f67), 0}};

    for (size_t i = 0; i < index->count; i++) {
        uint64_t words[2] = {index->sorted[i]->id, index->sorted[i]->mark};

        key.words[1] = siphash(&key, (const char *)words, sizeof words);
    }
    return key.words[1];
}

//
// Position
//

bool binlog_scan_open(struct binlog_scan *scan, const struct binlog_dir *dir,
                      struct binlog_index *index)
{
    *scan = (struct binlog_scan){.dir = dir, .index = index};
    for (size_t i = 0; i < dir->count; i++) {
        scan->size += dir->files[i].size;
    }
    scan->versions = calloc(dir->count + 1, 1);
    return binlog_window_open(&scan->window, dir) && scan->versions;
}

void binlog_scan_close(struct binlog_scan *scan)
{
    binlog_window_close(&scan->window);
    free(scan->versions);
    scan->versions = NULL;
}

static const struct binlog_file *scan_file(const struct binlog_scan *scan)
{
    return &scan->dir->files[scan->file];
}

static bool scan_is_zero(struct slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.ptr[i] != 0) {
            return false;
        }
    }
    return true;
}

static void scan_go_to(struct binlog_scan *scan, uint64_t at)
{
    scan->at = at;
    scan->doubted = scan->followed = scan->checked = false;
    scan->summed = 0;
    scan->crc = 0;
}

static void scan_pass_to(struct binlog_scan *scan, uint64_t at)
{
    scan->passed += at - scan->at;
    scan_go_to(scan, at);
}

static enum source_answer scan_next_file(struct binlog_scan *scan)
{
    scan->passed += scan_file(scan)->size - (scan->at < scan_file(scan)->size ? scan->at : 0);
    scan->file++;
    scan_go_to(scan, 0);
    scan->begun = false;
    scan->gap_told = false;
    scan->ends = false;
    return SOURCE_MORE;
}

// Reports damage, and skips the rest of the file.
static enum source_answer scan_skip_file(struct binlog_scan *scan, struct source_news *news,
                                         const char *what)
{
    char name[BINLOG_FILE_NAME];
    uint64_t size = scan_file(scan)->size;

    binlog_file_name(scan_file(scan)->number, name);
    (void)source_damage(news, name, scan->at,
                        "%s; the file is not read from here on, %" PRIu64 " bytes", what,
                        size - (scan->at < size ? scan->at : size));
    (void)scan_next_file(scan);
    return SOURCE_DAMAGE;
}

static enum source_answer scan_look(struct binlog_scan *scan, uint64_t at, size_t len,
                                    struct slice *got, struct source_news *news)
{
    int error = binlog_window_read(&scan->window, scan->file, at, len, got);
    char name[BINLOG_FILE_NAME];

    if (error) {
        binlog_file_name(scan_file(scan)->number, name);
        return source_fail(news, "%s: %s", name, strerror(error));
    }
    return SOURCE_MORE;
}

static enum source_answer scan_expect_end(struct binlog_scan *scan, uint64_t behind)
{
    scan->end_at = behind;
    scan->ends = true;
    return SOURCE_MORE;
}

static void scan_note_record(struct binlog_scan *scan, uint64_t end)
{
    scan_pass_to(scan, end);
    scan->last_number = scan_file(scan)->number;
    scan->last_end = end;
}

// The record is torn if only zeros follow `from`: look ahead to decide.
static enum source_answer scan_suspect(struct binlog_scan *scan, const struct scan_record *found,
                                       uint64_t from)
{
    scan->doubted = true;
    scan->torn_id = found->fields.id;
    scan->torn_change = found->name.len == 0;
    scan->torn_end = from;
    return scan_expect_end(scan, from);
}

static enum source_answer scan_report_torn(struct binlog_scan *scan, struct source_news *news)
{
    char name[BINLOG_FILE_NAME];

    binlog_file_name(scan_file(scan)->number, name);
    (void)source_damage(
        news, name, scan->at,
        scan->torn_change ? "a change of job %" PRIu64 ", perhaps its end, was being written when "
                            "beanstalkd ended; the job is as it was before"
                          : "job %" PRIu64 " was being written when beanstalkd ended",
        scan->torn_id);
    scan_note_record(scan, scan->torn_end);
    return SOURCE_TORN;
}

static enum source_answer scan_report_blanks(struct binlog_scan *scan, struct source_news *news)
{
    char name[BINLOG_FILE_NAME];

    binlog_file_name(scan->first_blank, name);
    (void)source_damage(news, name, 0,
                        "%" PRIu32 " files from this one on contain only zeros, but later files "
                        "have records: jobs may be missing",
                        scan->blanks);
    scan->blanks = 0;
    return SOURCE_DAMAGE;
}

static enum source_answer scan_check_end(struct binlog_scan *scan, struct source_news *news)
{
    struct slice got;
    enum source_answer answer = scan_look(scan, scan->end_at, BINLOG_WINDOW, &got, news);

    if (answer != SOURCE_MORE) {
        return answer;
    }
    if (got.len == 0) {
        if (scan->doubted) {
            return scan_report_torn(scan, news);
        }
        if (!scan->begun) {
            if (scan->blanks++ == 0) {
                scan->first_blank = scan_file(scan)->number;
            }
        }
        return scan_next_file(scan);
    }
    if (!scan_is_zero(got) && scan->doubted) {
        scan->doubted = scan->ends = false;
        scan->followed = true;
        return SOURCE_MORE;
    }
    if (!scan_is_zero(got)) {
        return scan_skip_file(scan, news, "invalid data instead of a record");
    }
    scan->end_at += got.len;
    return SOURCE_MORE;
}

static enum source_answer scan_refuse_version(const struct binlog_scan *scan, uint32_t version,
                                              struct source_news *news)
{
    char name[BINLOG_FILE_NAME];

    binlog_file_name(scan_file(scan)->number, name);
    if (version > UINT16_MAX) {
        return source_fail(news, "%s was written by a machine with another byte order", name);
    }
    return source_fail(news,
                       "%s has format %" PRIu32 ", but this tandemd reads only the formats 5, 7 "
                       "and 8: start the beanstalkd that wrote it, and move its jobs with "
                       "`tandemctl migrate`",
                       name, version);
}

static enum source_answer scan_begin_file(struct binlog_scan *scan, struct source_news *news)
{
    const struct binlog_file *file = scan_file(scan);
    uint32_t before = scan->file > 0 ? file[-1].number : file->number - 1;
    struct slice got;
    enum source_answer answer;
    uint32_t version;
    char name[BINLOG_FILE_NAME];

    if (before + 1 != file->number && !scan->gap_told) {
        scan->gap_told = true;
        binlog_file_name(before + 1, name);
        return source_damage(news, name, 0, "%" PRIu32 " files from this one on are missing",
                             file->number - before - 1);
    }
    answer = scan_look(scan, 0, BINLOG_VERSION_SIZE, &got, news);
    if (answer != SOURCE_MORE) {
        return answer;
    }
    // A new file.
    if (scan_is_zero(got)) {
        return scan_expect_end(scan, 0);
    }
    if (got.len < BINLOG_VERSION_SIZE) {
        return scan_skip_file(scan, news, "the file is truncated");
    }
    memcpy(&version, got.ptr, sizeof version);
    if (!binlog_layout_find(version, &scan->layout)) {
        // A credible version is a file that another program can read, not damage.
        return binlog_version_is_credible(version)
                   ? scan_refuse_version(scan, version, news)
                   : scan_skip_file(scan, news, "it does not begin with a format version");
    }
    scan->versions[scan->file] = (uint8_t)version;
    scan->begun = true;
    scan_pass_to(scan, BINLOG_VERSION_SIZE);
    return SOURCE_MORE;
}

// Reads all of a record that comes before the body. JOB: there is a record.
static enum source_answer scan_record_head(struct binlog_scan *scan, struct scan_record *found,
                                           struct source_news *news)
{
    static const struct siphash_key key = {{1, 2}};
    const struct binlog_layout *layout = &scan->layout;
    struct slice got;
    enum source_answer answer = scan_look(scan, scan->at, BINLOG_HEAD_MAX, &got, news);
    uint64_t name_len;
    size_t before;

    if (answer != SOURCE_MORE) {
        return answer;
    }
    if (got.len < BINLOG_HEAD_MAX && scan_is_zero(got)) {
        return scan_next_file(scan);
    }
    if (got.len < layout->length_size) {
        return scan_skip_file(scan, news, "a record is truncated");
    }
    name_len = binlog_name_length(layout, got.ptr);
    if (name_len > BINLOG_NAME_MAX) {
        return scan_skip_file(scan, news, "the name of a tube is too long");
    }
    before = layout->length_size + (size_t)name_len;
    if (got.len < before + layout->fields_size) {
        return scan_skip_file(scan, news, "a record is truncated");
    }
    binlog_fields_read(layout, got.ptr + before, &found->fields);
    found->head = before + layout->fields_size;
    found->name = slice_of(got.ptr + layout->length_size, (size_t)name_len);
    found->fields_at = scan->at + before;
    found->mark = siphash(&key, got.ptr + before, layout->fields_size);
    if (found->fields.id == 0) {
        return scan_is_zero(slice_of(got.ptr + before, layout->fields_size))
                   ? scan_expect_end(scan, scan->at + found->head)
                   : scan_skip_file(scan, news, "a record has no id");
    }
    return SOURCE_JOB;
}

static void scan_note_change(const struct binlog_scan *scan, const struct scan_record *found,
                             struct binlog_job *job)
{
    job->last_file = (uint32_t)scan->file;
    job->last_at = found->fields_at;
    job->mark = found->mark;
    job->buried = found->fields.state == BINLOG_BURIED;
}

// Reports damage to this record, and skips only the record.
static enum source_answer scan_skip_record(struct binlog_scan *scan,
                                           const struct scan_record *found,
                                           struct source_news *news, const char *what)
{
    char name[BINLOG_FILE_NAME];

    binlog_file_name(scan_file(scan)->number, name);
    (void)source_damage(news, name, scan->at, "job %" PRIu64 ": %s", found->fields.id, what);
    scan_note_record(scan, found->end);
    return SOURCE_DAMAGE;
}

// Whether the record is zeros from a page boundary on, which is at `most` or before.
static enum source_answer scan_look_for_tear(struct binlog_scan *scan, uint64_t most, uint64_t end,
                                             bool *torn, struct source_news *news)
{
    uint64_t page = most / PAGE_SIZE * PAGE_SIZE;
    struct slice got;
    enum source_answer answer;

    *torn = false;
    if (page <= scan->at) {
        return SOURCE_MORE;
    }
    answer = scan_look(scan, page, (size_t)(end - page), &got, news);
    *torn = answer == SOURCE_MORE && got.len == end - page && scan_is_zero(got);
    return answer;
}

static enum source_answer scan_compare_crc(struct binlog_scan *scan,
                                           const struct scan_record *found,
                                           struct source_news *news)
{
    struct slice got;
    enum source_answer answer =
        scan_look(scan, found->end - BINLOG_CRC_SIZE, BINLOG_CRC_SIZE, &got, news);
    bool torn;

    if (answer != SOURCE_MORE) {
        return answer;
    }
    if (got.len < BINLOG_CRC_SIZE) {
        return scan_skip_file(scan, news, "a record is truncated");
    }
    scan->checked = binlog_crc_read(got.ptr) == scan->crc;
    if (scan->checked) {
        return SOURCE_MORE;
    }
    torn = scan_is_zero(got);
    if (!torn) {
        answer = scan_look_for_tear(scan, found->end - 1, found->end, &torn, news);
    }
    if (answer != SOURCE_MORE) {
        return answer;
    }
    return torn && !scan->followed ? scan_suspect(scan, found, found->end)
                                   : scan_skip_record(scan, found, news, "its CRC is wrong");
}

// Checks a window of the record per call. MORE: call again, or the CRC is correct.
static enum source_answer scan_check_crc(struct binlog_scan *scan, const struct scan_record *found,
                                         struct source_news *news)
{
    uint64_t from = scan->at + scan->summed;
    uint64_t left = found->end - BINLOG_CRC_SIZE - from;
    struct slice got;
    enum source_answer answer;

    if (left == 0) {
        return scan_compare_crc(scan, found, news);
    }
    answer = scan_look(scan, from, left < BINLOG_WINDOW ? (size_t)left : BINLOG_WINDOW, &got, news);
    if (answer == SOURCE_MORE && got.len == 0) {
        return scan_skip_file(scan, news, "a record is truncated");
    }
    scan->crc = binlog_crc(scan->crc, got.ptr, got.len);
    scan->summed += got.len;
    return answer;
}

// beanstalkd writes the body last, in a write of its own.
static enum source_answer scan_take_full(struct binlog_scan *scan, const struct scan_record *found,
                                         struct binlog_job *job, struct source_news *news)
{
    uint64_t body_end = found->end - scan->layout.crc_size;
    struct slice end;
    enum source_answer answer;

    if (!binlog_name_is_valid(found->name.ptr, found->name.len)) {
        return scan_skip_file(scan, news, "a tube has an invalid name");
    }
    answer = scan_look(scan, body_end - BINLOG_BODY_END, BINLOG_BODY_END, &end, news);
    if (answer != SOURCE_MORE) {
        return answer;
    }
    if (end.len < BINLOG_BODY_END || (end.ptr[1] == 0 && (end.ptr[0] == 0 || end.ptr[0] == '\r'))) {
        return scan->followed || scan->layout.crc_size > 0
                   ? scan_skip_record(scan, found, news,
                                      "its body ends in zeros, but other records follow")
                   : scan_suspect(scan, found, found->end);
    }
    if (memcmp(end.ptr, "\r\n", BINLOG_BODY_END) != 0) {
        return scan_skip_file(scan, news, "a body does not end with CR LF");
    }
    job = job ? job : binlog_index_add(scan->index, found->fields.id);
    if (!job) {
        return source_fail(news, "out of memory");
    }
    job->full_file = (uint32_t)scan->file;
    job->full_at = scan->at;
    job->body_size = found->fields.body_size;
    scan_note_change(scan, found, job);
    scan_note_record(scan, found->end);
    return SOURCE_MORE;
}

// A change that was torn before the byte of the state looks like a deletion.
static enum source_answer scan_take_deletion(struct binlog_scan *scan,
                                             const struct scan_record *found,
                                             struct binlog_job *job, struct source_news *news)
{
    if (scan->layout.crc_size == 0 && !scan->followed) {
        bool torn;
        enum source_answer answer =
            scan_look_for_tear(scan, found->fields_at + BINLOG_STATE_AT, found->end, &torn, news);

        if (answer != SOURCE_MORE || torn) {
            return torn ? scan_suspect(scan, found, found->end) : answer;
        }
    }
    binlog_index_remove(scan->index, job);
    scan_note_record(scan, found->end);
    return SOURCE_MORE;
}

static enum source_answer scan_take_short(struct binlog_scan *scan, const struct scan_record *found,
                                          struct binlog_job *job, struct source_news *news)
{
    if (found->fields.state == BINLOG_DELETED) {
        return scan_take_deletion(scan, found, job, news);
    }
    if (found->fields.body_size != job->body_size) {
        return scan_skip_file(scan, news, "the length of a body has changed");
    }
    scan_note_change(scan, found, job);
    scan_note_record(scan, found->end);
    return SOURCE_MORE;
}

// Computes the end of the record. MORE: it is plausible.
static enum source_answer scan_find_end(struct binlog_scan *scan, struct scan_record *found,
                                        struct source_news *news)
{
    uint64_t size = scan_file(scan)->size;
    uint64_t body = 0;

    // A full record never describes a deleted job.
    if (found->name.len > 0 && found->fields.state == BINLOG_DELETED) {
        return scan->followed ? scan_skip_file(scan, news, "a job has an impossible state")
                              : scan_suspect(scan, found, scan->at + found->head);
    }
    if (found->name.len > 0) {
        body = (uint64_t)found->fields.body_size;
        if (found->fields.body_size < BINLOG_BODY_END || body > size) {
            return scan_skip_file(scan, news, "a body has an impossible length");
        }
    }
    found->end = scan->at + found->head + body + scan->layout.crc_size;
    return found->end > size
               ? scan_skip_file(scan, news,
                                found->name.len > 0 ? "a body has an impossible length"
                                                    : "a record is truncated")
               : SOURCE_MORE;
}

static enum source_answer scan_take_record(struct binlog_scan *scan, struct scan_record *found,
                                           struct source_news *news)
{
    struct binlog_job *job = id_map_find(&scan->index->jobs, found->fields.id);
    enum source_answer answer = scan_find_end(scan, found, news);

    if (answer != SOURCE_MORE || scan->doubted) {
        return answer;
    }
    if (scan->layout.crc_size > 0 && !scan->checked) {
        return scan_check_crc(scan, found, news);
    }
    // A change of a job whose full record was in a removed file: the job was deleted, or its record
    // was moved to a later file.
    if (!job && found->name.len == 0) {
        scan_note_record(scan, found->end);
        return SOURCE_MORE;
    }
    if (found->fields.id > BINLOG_ID_MAX || found->fields.state > BINLOG_DELAYED) {
        return scan_skip_file(scan, news, "a job has an impossible state");
    }
    return found->name.len > 0 ? scan_take_full(scan, found, job, news)
                               : scan_take_short(scan, found, job, news);
}

static enum source_answer scan_step(struct binlog_scan *scan, struct source_news *news)
{
    struct scan_record found = {.head = 0};
    enum source_answer answer;

    if (scan->ends) {
        return scan_check_end(scan, news);
    }
    if (!scan->begun) {
        return scan_begin_file(scan, news);
    }
    answer = scan_record_head(scan, &found, news);
    if (answer != SOURCE_JOB) {
        return answer;
    }
    return scan->blanks > 0 ? scan_report_blanks(scan, news) : scan_take_record(scan, &found, news);
}

enum source_answer binlog_scan_continue(struct binlog_scan *scan, struct source_news *news)
{
    uint64_t most = scan->window.reads + SLICE_BYTES;

    for (unsigned i = 0; i < SLICE_RECORDS && scan->window.reads < most; i++) {
        enum source_answer answer;

        if (scan->file == scan->dir->count) {
            return SOURCE_END;
        }
        answer = scan_step(scan, news);
        if (answer != SOURCE_MORE) {
            return answer;
        }
    }
    return SOURCE_MORE;
}
