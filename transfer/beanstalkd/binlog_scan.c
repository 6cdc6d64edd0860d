/* SPDX-License-Identifier: MIT */
#include "transfer/beanstalkd/binlog_scan.h"

#include "core/base/siphash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// What a slice reads and looks at, at most.
enum { SLICE_BYTES = 1 << 20, SLICE_RECORDS = 4096 };
// Ids above are not ones that any beanstalkd gets to. Ours have 48 bits, and more are to come.
#define ID_MOST (UINT64_C(1) << 47)
// What a file system writes at once, or a multiple of it.
#define PAGE_SIZE UINT64_C(4096)

// The record that is looked at.
struct found {
    struct binlog_fields fields;
    size_t head;       // bytes before the body
    uint64_t end;      // of the record
    struct slice name; // borrowed from the window
    uint64_t fields_at;
    uint64_t mark;
};

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

static const struct binlog_file *file_of(const struct binlog_scan *scan)
{
    return &scan->dir->files[scan->file];
}

static bool is_zero(struct slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.ptr[i] != 0) {
            return false;
        }
    }
    return true;
}

static void go_to(struct binlog_scan *scan, uint64_t at)
{
    scan->at = at;
    scan->doubted = scan->followed = scan->checked = false;
    scan->summed = 0;
    scan->crc = 0;
}

static void pass_to(struct binlog_scan *scan, uint64_t at)
{
    scan->passed += at - scan->at;
    go_to(scan, at);
}

static enum source_answer next_file(struct binlog_scan *scan)
{
    scan->passed += file_of(scan)->size - (scan->at < file_of(scan)->size ? scan->at : 0);
    scan->file++;
    go_to(scan, 0);
    scan->begun = false;
    scan->gap_told = false;
    scan->ends = false;
    return SOURCE_MORE;
}

// The rest of this file cannot be read.
static enum source_answer give_up_file(struct binlog_scan *scan, struct source_news *news,
                                       const char *what)
{
    char name[BINLOG_FILE_NAME];
    uint64_t size = file_of(scan)->size;

    binlog_file_name(file_of(scan)->number, name);
    (void)source_damage(news, name, scan->at,
                        "%s; the file is not read from here on, %" PRIu64 " bytes", what,
                        size - (scan->at < size ? scan->at : size));
    (void)next_file(scan);
    return SOURCE_DAMAGE;
}

static enum source_answer look(struct binlog_scan *scan, uint64_t at, size_t len, struct slice *got,
                               struct source_news *news)
{
    int error = binlog_window_look(&scan->window, scan->file, at, len, got);
    char name[BINLOG_FILE_NAME];

    if (error) {
        binlog_file_name(file_of(scan)->number, name);
        return source_fail(news, "%s: %s", name, strerror(error));
    }
    return SOURCE_MORE;
}

// Where this one ends, nothing but zeros may follow.
static enum source_answer end_here(struct binlog_scan *scan, uint64_t behind)
{
    scan->end_at = behind;
    scan->ends = true;
    return SOURCE_MORE;
}

static void note_record(struct binlog_scan *scan, uint64_t end)
{
    pass_to(scan, end);
    scan->last_number = file_of(scan)->number;
    scan->last_end = end;
}

// The record is torn if nothing but zeros is behind `from`.
static enum source_answer doubt(struct binlog_scan *scan, const struct found *found, uint64_t from)
{
    scan->doubted = true;
    scan->torn_id = found->fields.id;
    scan->torn_change = found->name.len == 0;
    scan->torn_end = from;
    return end_here(scan, from);
}

static enum source_answer leave_out(struct binlog_scan *scan, struct source_news *news)
{
    char name[BINLOG_FILE_NAME];

    binlog_file_name(file_of(scan)->number, name);
    (void)source_damage(
        news, name, scan->at,
        scan->torn_change ? "a change of job %" PRIu64 ", perhaps its end, was being written when "
                            "beanstalkd ended; the job is as it was before"
                          : "job %" PRIu64 " was being written when beanstalkd ended",
        scan->torn_id);
    note_record(scan, scan->torn_end);
    return SOURCE_TORN;
}

static void note_blank(struct binlog_scan *scan)
{
    if (scan->blanks++ == 0) {
        scan->first_blank = file_of(scan)->number;
    }
}

static enum source_answer tell_blanks(struct binlog_scan *scan, struct source_news *news)
{
    char name[BINLOG_FILE_NAME];

    binlog_file_name(scan->first_blank, name);
    (void)source_damage(news, name, 0,
                        "nothing but zeros is in %" PRIu32 " files from this one on, and later "
                        "files have records: jobs may be missing",
                        scan->blanks);
    scan->blanks = 0;
    return SOURCE_DAMAGE;
}

static enum source_answer look_at_end(struct binlog_scan *scan, struct source_news *news)
{
    struct slice got;
    enum source_answer answer = look(scan, scan->end_at, BINLOG_WINDOW, &got, news);

    if (answer != SOURCE_MORE) {
        return answer;
    }
    if (got.len == 0) {
        if (scan->doubted) {
            return leave_out(scan, news);
        }
        if (!scan->begun) {
            note_blank(scan);
        }
        return next_file(scan);
    }
    if (!is_zero(got) && scan->doubted) {
        scan->doubted = scan->ends = false;
        scan->followed = true;
        return SOURCE_MORE;
    }
    if (!is_zero(got)) {
        return give_up_file(scan, news, "there is no record, but not the end either");
    }
    scan->end_at += got.len;
    return SOURCE_MORE;
}

static enum source_answer refuse_version(const struct binlog_scan *scan, uint32_t version,
                                         struct source_news *news)
{
    char name[BINLOG_FILE_NAME];

    binlog_file_name(file_of(scan)->number, name);
    if (version > UINT16_MAX) {
        return source_fail(news, "%s was written by a machine of another byte order", name);
    }
    return source_fail(news,
                       "%s has format %" PRIu32 ", which this tandemd cannot read (5, 7 and 8 it "
                       "can): have the beanstalkd that wrote it run, and take its jobs by "
                       "`tandemctl migrate`",
                       name, version);
}

static enum source_answer begin_file(struct binlog_scan *scan, struct source_news *news)
{
    const struct binlog_file *file = file_of(scan);
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
    answer = look(scan, 0, BINLOG_VERSION_SIZE, &got, news);
    if (answer != SOURCE_MORE) {
        return answer;
    }
    // It was made, and nothing was written to it.
    if (is_zero(got)) {
        return end_here(scan, 0);
    }
    if (got.len < BINLOG_VERSION_SIZE) {
        return give_up_file(scan, news, "it is cut off");
    }
    memcpy(&version, got.ptr, sizeof version);
    if (!binlog_layout_find(version, &scan->layout)) {
        // Nothing is wrong with a file that another program can read.
        return binlog_version_is_credible(version)
                   ? refuse_version(scan, version, news)
                   : give_up_file(scan, news, "it does not begin with the version of a format");
    }
    scan->versions[scan->file] = (uint8_t)version;
    scan->begun = true;
    pass_to(scan, BINLOG_VERSION_SIZE);
    return SOURCE_MORE;
}

// All that stands before a body. JOB: there is a record.
static enum source_answer find_record(struct binlog_scan *scan, struct found *found,
                                      struct source_news *news)
{
    static const struct siphash_key key = {{1, 2}};
    const struct binlog_layout *layout = &scan->layout;
    struct slice got;
    enum source_answer answer = look(scan, scan->at, BINLOG_HEAD_MAX, &got, news);
    uint64_t name_len;
    size_t before;

    if (answer != SOURCE_MORE) {
        return answer;
    }
    if (got.len < BINLOG_HEAD_MAX && is_zero(got)) {
        return next_file(scan);
    }
    if (got.len < layout->length_size) {
        return give_up_file(scan, news, "a record is cut off");
    }
    name_len = binlog_name_length(layout, got.ptr);
    if (name_len > BINLOG_NAME_MAX) {
        return give_up_file(scan, news, "the name of a tube is too long");
    }
    before = layout->length_size + (size_t)name_len;
    if (got.len < before + layout->fields_size) {
        return give_up_file(scan, news, "a record is cut off");
    }
    binlog_fields_read(layout, got.ptr + before, &found->fields);
    found->head = before + layout->fields_size;
    found->name = slice_of(got.ptr + layout->length_size, (size_t)name_len);
    found->fields_at = scan->at + before;
    found->mark = siphash(&key, got.ptr + before, layout->fields_size);
    if (found->fields.id == 0) {
        return is_zero(slice_of(got.ptr + before, layout->fields_size))
                   ? end_here(scan, scan->at + found->head)
                   : give_up_file(scan, news, "a record has no id");
    }
    return SOURCE_JOB;
}

static void note_change(const struct binlog_scan *scan, const struct found *found,
                        struct binlog_job *job)
{
    job->last_file = (uint32_t)scan->file;
    job->last_at = found->fields_at;
    job->mark = found->mark;
    job->buried = found->fields.state == BINLOG_BURIED;
}

// Damage to this record alone.
static enum source_answer pass_over(struct binlog_scan *scan, const struct found *found,
                                    struct source_news *news, const char *what)
{
    char name[BINLOG_FILE_NAME];

    binlog_file_name(file_of(scan)->number, name);
    (void)source_damage(news, name, scan->at, "job %" PRIu64 ": %s", found->fields.id, what);
    note_record(scan, found->end);
    return SOURCE_DAMAGE;
}

// Whether there is a page boundary in the record, at `most` at most, from which on it is in zeros.
static enum source_answer look_for_tear(struct binlog_scan *scan, uint64_t most, uint64_t end,
                                        bool *torn, struct source_news *news)
{
    uint64_t page = most / PAGE_SIZE * PAGE_SIZE;
    struct slice got;
    enum source_answer answer;

    *torn = false;
    if (page <= scan->at) {
        return SOURCE_MORE;
    }
    answer = look(scan, page, (size_t)(end - page), &got, news);
    *torn = answer == SOURCE_MORE && got.len == end - page && is_zero(got);
    return answer;
}

static enum source_answer judge_crc(struct binlog_scan *scan, const struct found *found,
                                    struct source_news *news)
{
    struct slice got;
    enum source_answer answer =
        look(scan, found->end - BINLOG_CRC_SIZE, BINLOG_CRC_SIZE, &got, news);
    bool torn;

    if (answer != SOURCE_MORE) {
        return answer;
    }
    if (got.len < BINLOG_CRC_SIZE) {
        return give_up_file(scan, news, "a record is cut off");
    }
    scan->checked = binlog_crc_read(got.ptr) == scan->crc;
    if (scan->checked) {
        return SOURCE_MORE;
    }
    torn = is_zero(got);
    if (!torn) {
        answer = look_for_tear(scan, found->end - 1, found->end, &torn, news);
    }
    if (answer != SOURCE_MORE) {
        return answer;
    }
    return torn && !scan->followed ? doubt(scan, found, found->end)
                                   : pass_over(scan, found, news, "its CRC is wrong");
}

// Some of the record at a time. MORE: to be called again, or it is right.
static enum source_answer check_crc(struct binlog_scan *scan, const struct found *found,
                                    struct source_news *news)
{
    uint64_t from = scan->at + scan->summed;
    uint64_t left = found->end - BINLOG_CRC_SIZE - from;
    struct slice got;
    enum source_answer answer;

    if (left == 0) {
        return judge_crc(scan, found, news);
    }
    answer = look(scan, from, left < BINLOG_WINDOW ? (size_t)left : BINLOG_WINDOW, &got, news);
    if (answer == SOURCE_MORE && got.len == 0) {
        return give_up_file(scan, news, "a record is cut off");
    }
    scan->crc = binlog_crc(scan->crc, got.ptr, got.len);
    scan->summed += got.len;
    return answer;
}

// beanstalkd writes the body by itself, after everything else.
static enum source_answer take_full(struct binlog_scan *scan, const struct found *found,
                                    struct binlog_job *job, struct source_news *news)
{
    uint64_t body_end = found->end - scan->layout.crc_size;
    struct slice end;
    enum source_answer answer;

    if (!binlog_name_is_good(found->name.ptr, found->name.len)) {
        return give_up_file(scan, news, "the name of a tube is impossible");
    }
    answer = look(scan, body_end - BINLOG_BODY_END, BINLOG_BODY_END, &end, news);
    if (answer != SOURCE_MORE) {
        return answer;
    }
    if (end.len < BINLOG_BODY_END || (end.ptr[1] == 0 && (end.ptr[0] == 0 || end.ptr[0] == '\r'))) {
        return scan->followed || scan->layout.crc_size > 0
                   ? pass_over(scan, found, news, "its body ends in zeros, and more follows")
                   : doubt(scan, found, found->end);
    }
    if (memcmp(end.ptr, "\r\n", BINLOG_BODY_END) != 0) {
        return give_up_file(scan, news, "a body has not the end that it must have");
    }
    job = job ? job : binlog_index_add(scan->index, found->fields.id);
    if (!job) {
        return source_fail(news, "out of memory");
    }
    job->full_file = (uint32_t)scan->file;
    job->full_at = scan->at;
    job->body_size = found->fields.body_size;
    note_change(scan, found, job);
    note_record(scan, found->end);
    return SOURCE_MORE;
}

// A deletion, or what seems to be one. It is the whole end of a job: a change that was torn before
// the byte of the state reads the same.
static enum source_answer take_deletion(struct binlog_scan *scan, const struct found *found,
                                        struct binlog_job *job, struct source_news *news)
{
    if (scan->layout.crc_size == 0 && !scan->followed) {
        bool torn;
        enum source_answer answer =
            look_for_tear(scan, found->fields_at + BINLOG_STATE_AT, found->end, &torn, news);

        if (answer != SOURCE_MORE || torn) {
            return torn ? doubt(scan, found, found->end) : answer;
        }
    }
    binlog_index_remove(scan->index, job);
    note_record(scan, found->end);
    return SOURCE_MORE;
}

static enum source_answer take_short(struct binlog_scan *scan, const struct found *found,
                                     struct binlog_job *job, struct source_news *news)
{
    if (found->fields.state == BINLOG_DELETED) {
        return take_deletion(scan, found, job, news);
    }
    if (found->fields.body_size != job->body_size) {
        return give_up_file(scan, news, "the length of a body has changed");
    }
    note_change(scan, found, job);
    note_record(scan, found->end);
    return SOURCE_MORE;
}

// Where the record ends, as far as it can be right. MORE: it can.
static enum source_answer find_end(struct binlog_scan *scan, struct found *found,
                                   struct source_news *news)
{
    uint64_t size = file_of(scan)->size;
    uint64_t body = 0;

    // No job begins with its end.
    if (found->name.len > 0 && found->fields.state == BINLOG_DELETED) {
        return scan->followed ? give_up_file(scan, news, "a job is in no state that it can be in")
                              : doubt(scan, found, scan->at + found->head);
    }
    if (found->name.len > 0) {
        body = (uint64_t)found->fields.body_size;
        if (found->fields.body_size < BINLOG_BODY_END || body > size) {
            return give_up_file(scan, news, "a body has an impossible length");
        }
    }
    found->end = scan->at + found->head + body + scan->layout.crc_size;
    return found->end > size ? give_up_file(scan, news,
                                            found->name.len > 0 ? "a body has an impossible length"
                                                                : "a record is cut off")
                             : SOURCE_MORE;
}

static enum source_answer take_record(struct binlog_scan *scan, struct found *found,
                                      struct source_news *news)
{
    struct binlog_job *job = binlog_index_find(scan->index, found->fields.id);
    enum source_answer answer = find_end(scan, found, news);

    if (answer != SOURCE_MORE || scan->doubted) {
        return answer;
    }
    if (scan->layout.crc_size > 0 && !scan->checked) {
        return check_crc(scan, found, news);
    }
    // Its full record was in a file that is gone, since it was deleted, or moved to a later one.
    if (!job && found->name.len == 0) {
        note_record(scan, found->end);
        return SOURCE_MORE;
    }
    if (found->fields.id > ID_MOST || found->fields.state > BINLOG_DELAYED) {
        return give_up_file(scan, news, "a job is in no state that it can be in");
    }
    return found->name.len > 0 ? take_full(scan, found, job, news)
                               : take_short(scan, found, job, news);
}

static enum source_answer step(struct binlog_scan *scan, struct source_news *news)
{
    struct found found = {.head = 0};
    enum source_answer answer;

    if (scan->ends) {
        return look_at_end(scan, news);
    }
    if (!scan->begun) {
        return begin_file(scan, news);
    }
    answer = find_record(scan, &found, news);
    if (answer != SOURCE_JOB) {
        return answer;
    }
    return scan->blanks > 0 ? tell_blanks(scan, news) : take_record(scan, &found, news);
}

enum source_answer binlog_scan_go_on(struct binlog_scan *scan, struct source_news *news)
{
    uint64_t most = scan->window.reads + SLICE_BYTES;

    for (unsigned i = 0; i < SLICE_RECORDS && scan->window.reads < most; i++) {
        enum source_answer answer;

        if (scan->file == scan->dir->count) {
            return SOURCE_END;
        }
        answer = step(scan, news);
        if (answer != SOURCE_MORE) {
            return answer;
        }
    }
    return SOURCE_MORE;
}
