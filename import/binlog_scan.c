/* SPDX-License-Identifier: MIT */
#include "import/binlog_scan.h"

#include "core/base/siphash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// What a slice reads and looks at, at most.
enum { SLICE_BYTES = 1 << 20, SLICE_RECORDS = 4096 };
// Ids above are not ones that any beanstalkd gets to. Ours have 48 bits, and more are to come.
#define ID_MOST (UINT64_C(1) << 47)

// The record that is looked at.
struct found {
    struct binlog_fields fields;
    size_t head;       // bytes before the body
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

static enum source_answer next_file(struct binlog_scan *scan)
{
    scan->passed += file_of(scan)->size - (scan->at < file_of(scan)->size ? scan->at : 0);
    scan->file++;
    scan->at = 0;
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

static void go_to(struct binlog_scan *scan, uint64_t at)
{
    scan->passed += at - scan->at;
    scan->at = at;
}

// Where this one ends, nothing but zeros may follow.
static enum source_answer end_here(struct binlog_scan *scan, uint64_t behind)
{
    scan->end_at = behind;
    scan->ends = true;
    return SOURCE_MORE;
}

static enum source_answer look_at_end(struct binlog_scan *scan, struct source_news *news)
{
    struct slice got;
    enum source_answer answer = look(scan, scan->end_at, BINLOG_WINDOW, &got, news);

    if (answer != SOURCE_MORE) {
        return answer;
    }
    if (got.len == 0) {
        return next_file(scan);
    }
    if (!is_zero(got)) {
        return give_up_file(scan, news, "there is no record, but not the end either");
    }
    scan->end_at += got.len;
    return SOURCE_MORE;
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
        return give_up_file(scan, news, "its format is none that is known (5 and 7 are)");
    }
    scan->versions[scan->file] = (uint8_t)version;
    scan->begun = true;
    go_to(scan, BINLOG_VERSION_SIZE);
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

static void note_record(struct binlog_scan *scan, uint64_t end)
{
    go_to(scan, end);
    scan->last_number = file_of(scan)->number;
    scan->last_end = end;
}

static void note_change(const struct binlog_scan *scan, const struct found *found,
                        struct binlog_job *job)
{
    job->last_file = (uint32_t)scan->file;
    job->last_at = found->fields_at;
    job->mark = found->mark;
    job->buried = found->fields.state == BINLOG_BURIED;
}

// beanstalkd writes the body by itself, after everything else.
static enum source_answer leave_out(struct binlog_scan *scan, const struct found *found,
                                    struct source_news *news)
{
    char name[BINLOG_FILE_NAME];

    binlog_file_name(file_of(scan)->number, name);
    (void)source_damage(news, name, scan->at,
                        "job %" PRIu64 " was being written when beanstalkd ended",
                        found->fields.id);
    note_record(scan, scan->at + found->head + (uint64_t)found->fields.body_size);
    return SOURCE_TORN;
}

static enum source_answer take_full(struct binlog_scan *scan, const struct found *found,
                                    struct binlog_job *job, struct source_news *news)
{
    uint64_t body_at = scan->at + found->head;
    int32_t size = found->fields.body_size;
    struct slice end;
    enum source_answer answer;

    if (size < BINLOG_BODY_END || (uint64_t)size > file_of(scan)->size ||
        body_at + (uint64_t)size > file_of(scan)->size) {
        return give_up_file(scan, news, "a body has an impossible length");
    }
    if (!binlog_name_is_good(found->name.ptr, found->name.len)) {
        return give_up_file(scan, news, "the name of a tube is impossible");
    }
    answer = look(scan, body_at + (uint64_t)size - BINLOG_BODY_END, BINLOG_BODY_END, &end, news);
    if (answer != SOURCE_MORE) {
        return answer;
    }
    if (end.len < BINLOG_BODY_END || (end.ptr[1] == 0 && (end.ptr[0] == 0 || end.ptr[0] == '\r'))) {
        return leave_out(scan, found, news);
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
    job->body_size = size;
    note_change(scan, found, job);
    note_record(scan, body_at + (uint64_t)size);
    return SOURCE_MORE;
}

static enum source_answer take_record(struct binlog_scan *scan, const struct found *found,
                                      struct source_news *news)
{
    struct binlog_job *job = binlog_index_find(scan->index, found->fields.id);

    // Its full record was in a file that is gone, since it was deleted, or moved to a later one.
    if (!job && found->name.len == 0) {
        note_record(scan, scan->at + found->head);
        return SOURCE_MORE;
    }
    if (found->fields.id > ID_MOST || found->fields.state > BINLOG_DELAYED) {
        return give_up_file(scan, news, "a job is in no state that it can be in");
    }
    if (found->fields.state == BINLOG_DELETED) {
        if (job) {
            binlog_index_remove(scan->index, job);
        }
        note_record(scan, scan->at + found->head);
        return SOURCE_MORE;
    }
    if (found->name.len > 0) {
        return take_full(scan, found, job, news);
    }
    if (found->fields.body_size != job->body_size) {
        return give_up_file(scan, news, "the length of a body has changed");
    }
    note_change(scan, found, job);
    note_record(scan, scan->at + found->head);
    return SOURCE_MORE;
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
    return answer == SOURCE_JOB ? take_record(scan, &found, news) : answer;
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
