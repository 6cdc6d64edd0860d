/* SPDX-License-Identifier: MIT */
#include "transfer/beanstalkd/beanstalkd.h"

#include "core/job.h"
#include "core/submit.h"
#include "transfer/beanstalkd/binlog_scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

//
// The fingerprint: a hash of the jobs and the end of the last record; then the numbers, sizes and
// times of the files, for a quick comparison. A beanstalkd that starts on the binlog begins a file
// and removes files without jobs; until it writes a record, the first part stays the same.
//

struct binlog_print {
    char *bytes;
    size_t len;
};

// With more files, the fingerprint has no list of files.
#define PRINT_FILES_MAX 40000

struct print_jobs {
    uint64_t hash;
    uint64_t count;
    uint64_t last_number;
    uint64_t last_end;
};

struct print_file_part {
    uint64_t number;
    uint64_t size;
    int64_t changed_at;
};

static struct print_file_part print_file(const struct binlog_file *file)
{
    return (struct print_file_part){
        .number = file->number, .size = file->size, .changed_at = file->changed_at};
}

// After the scan and the sort. False without memory.
static bool binlog_print_make(struct binlog_print *print, const struct binlog_dir *dir,
                              const struct binlog_scan *scan)
{
    const struct print_jobs jobs = {.hash = binlog_index_hash(scan->index),
                                    .count = scan->index->count,
                                    .last_number = scan->last_number,
                                    .last_end = scan->last_end};
    size_t files = dir->count <= PRINT_FILES_MAX ? dir->count : 0;

    print->len = sizeof jobs + files * sizeof(struct print_file_part);
    print->bytes = malloc(print->len);
    if (!print->bytes) {
        return false;
    }
    memcpy(print->bytes, &jobs, sizeof jobs);
    for (size_t i = 0; i < files; i++) {
        const struct print_file_part part = print_file(&dir->files[i]);

        memcpy(print->bytes + sizeof jobs + i * sizeof part, &part, sizeof part);
    }
    return true;
}

// Whether the fingerprint was made from exactly these files.
static bool binlog_print_has_files(struct slice print, const struct binlog_dir *dir)
{
    if (print.len != sizeof(struct print_jobs) + dir->count * sizeof(struct print_file_part)) {
        return false;
    }
    for (size_t i = 0; i < dir->count; i++) {
        const struct print_file_part part = print_file(&dir->files[i]);

        if (memcmp(print.ptr + sizeof(struct print_jobs) + i * sizeof part, &part, sizeof part) !=
            0) {
            return false;
        }
    }
    return true;
}

//
// The source
//

struct binlog_source {
    struct source source;
    char *path; // as given
    struct binlog_dir dir;
    struct binlog_index index;
    struct binlog_scan scan;
    struct binlog_window full; // for records with a body
    struct binlog_window last; // for the youngest records
    struct binlog_print print;
    size_t next; // index in index.sorted
    char name[BINLOG_NAME_MAX];
    char *body; // buffer for a body that is larger than a window
    size_t body_room;
};

static struct binlog_source *binlog_source_of(const struct source *source)
{
    return container_of((struct source *)(uintptr_t)source, struct binlog_source, source);
}

static enum source_glance binlog_source_glance(struct source *source, struct slice old)
{
    const struct binlog_source *bs = binlog_source_of(source);

    if (bs->dir.count == 0) {
        return SOURCE_GONE;
    }
    return binlog_print_has_files(old, &bs->dir) ? SOURCE_SAME : SOURCE_UNSURE;
}

static enum source_answer binlog_source_survey(struct source *source, struct source_news *news)
{
    struct binlog_source *bs = binlog_source_of(source);
    enum source_answer answer;

    if (bs->dir.count == 0) {
        return source_fail(news, "there are no beanstalkd binlogs (binlog.N)");
    }
    answer = binlog_scan_continue(&bs->scan, news);
    if (answer == SOURCE_END &&
        (!binlog_index_sort(&bs->index) || !binlog_print_make(&bs->print, &bs->dir, &bs->scan))) {
        return source_fail(news, "out of memory");
    }
    return answer;
}

static void binlog_source_progress(const struct source *source, struct source_progress *progress)
{
    const struct binlog_source *bs = binlog_source_of(source);
    const struct binlog_scan *scan = &bs->scan;
    // A long end of zeros counts while it is checked, so that the progress does not stand still.
    uint64_t empty = scan->ends && scan->end_at > scan->at ? scan->end_at - scan->at : 0;

    *progress = (struct source_progress){
        .read = scan->passed + empty, .size = scan->size, .jobs = bs->index.count};
}

static struct slice binlog_source_fingerprint(const struct source *source)
{
    const struct binlog_print *print = &binlog_source_of(source)->print;

    return slice_of(print->bytes, print->len);
}

static bool binlog_source_same(const struct source *source, struct slice old)
{
    const char *print = binlog_source_of(source)->print.bytes;

    // The files may differ.
    return old.len >= sizeof(struct print_jobs) &&
           memcmp(old.ptr, print, sizeof(struct print_jobs)) == 0;
}

static enum source_answer binlog_cannot_read(const struct binlog_source *bs,
                                             const struct binlog_job *job, const char *why,
                                             struct source_news *news)
{
    char name[BINLOG_FILE_NAME];

    binlog_file_name(bs->dir.files[job->full_file].number, name);
    return source_fail(news, "%s: job %" PRIu64 ": %s", name, job->id, why);
}

static enum source_answer binlog_read_fields(struct binlog_source *bs, const struct binlog_job *job,
                                             struct binlog_fields *fields, struct source_news *news)
{
    struct binlog_layout layout;
    struct slice got;
    int error;

    (void)binlog_layout_find(bs->scan.versions[job->last_file], &layout);
    error = binlog_window_read(&bs->last, job->last_file, job->last_at, layout.fields_size, &got);
    if (error || got.len < layout.fields_size) {
        return binlog_cannot_read(bs, job, error ? strerror(error) : "the file was truncated",
                                  news);
    }
    binlog_fields_read(&layout, got.ptr, fields);
    return SOURCE_JOB;
}

static bool binlog_make_room(struct binlog_source *bs, size_t size)
{
    if (size > bs->body_room) {
        free(bs->body);
        bs->body = malloc(size);
        bs->body_room = bs->body ? size : 0;
    }
    return bs->body != NULL;
}

// Reads the name, which is copied, and the body, which stays in the window if it fits.
static enum source_answer binlog_read_full(struct binlog_source *bs, const struct binlog_job *job,
                                           struct job_image *image, struct source_news *news)
{
    size_t size = (size_t)job->body_size;
    struct binlog_layout layout;
    struct slice got;
    size_t name_len;
    size_t head;
    int error;

    (void)binlog_layout_find(bs->scan.versions[job->full_file], &layout);
    error = binlog_window_read(&bs->full, job->full_file, job->full_at, BINLOG_HEAD_MAX, &got);
    if (error || got.len < layout.length_size) {
        return binlog_cannot_read(bs, job, error ? strerror(error) : "the file was truncated",
                                  news);
    }
    name_len = (size_t)binlog_name_length(&layout, got.ptr);
    head = layout.length_size + name_len + layout.fields_size;
    if (name_len > BINLOG_NAME_MAX || got.len < head) {
        return binlog_cannot_read(bs, job, "the file has changed", news);
    }
    memcpy(bs->name, got.ptr + layout.length_size, name_len);
    image->queue = slice_of(bs->name, name_len);
    if (size <= BINLOG_WINDOW) {
        error = binlog_window_read(&bs->full, job->full_file, job->full_at + head, size, &got);
        image->body = got;
        error = error || got.len == size ? error : EIO;
    } else if (binlog_make_room(bs, size)) {
        error = binlog_window_copy(&bs->full, job->full_file, job->full_at + head, bs->body, size);
        image->body = slice_of(bs->body, size);
    } else {
        error = ENOMEM;
    }
    image->body.len -= error ? 0 : BINLOG_BODY_END;
    return error ? binlog_cannot_read(bs, job, strerror(error), news) : SOURCE_JOB;
}

static uint32_t binlog_seconds(nsec_t time)
{
    uint64_t seconds = (uint64_t)(time / NSEC_PER_SEC);

    return seconds < UINT32_MAX ? (uint32_t)seconds : UINT32_MAX;
}

static uint8_t binlog_job_state(const struct binlog_fields *fields)
{
    switch (fields->state) {
    case BINLOG_BURIED:
        return JOB_BURIED;
    case BINLOG_DELAYED:
        return JOB_DELAYED;
    default:
        return JOB_READY;
    }
}

// The same values that a put by a beanstalk client would have here.
static void binlog_job_image(const struct binlog_fields *fields, struct job_image *image)
{
    // A job stores its creation time in 42 bits.
    static const uint64_t created_most_ms = (UINT64_C(1) << 42) - 1;
    uint64_t created_ms = (uint64_t)(fields->created_at / NSEC_PER_MSEC);
    uint32_t ttr = binlog_seconds(fields->ttr_for);

    image->now = (struct job_change){.id = fields->id,
                                     .state = binlog_job_state(fields),
                                     .pri = fields->pri,
                                     .delay = binlog_seconds(fields->delay_for),
                                     .due_at = fields->deadline_at};
    image->on_fail = ON_FAIL_BURY;
    image->on_loss = ON_LOSS_FRONT;
    image->ttr = ttr ? ttr : 1;
    image->now.counters.reserves = fields->reserves;
    image->now.counters.timeouts = fields->timeouts;
    image->now.counters.releases = fields->releases;
    image->now.counters.buries = fields->buries;
    image->now.counters.kicks = fields->kicks;
    image->created_ms = created_ms < created_most_ms ? created_ms : created_most_ms;
}

static enum source_answer binlog_source_next(struct source *source, struct source_news *news)
{
    struct binlog_source *bs = binlog_source_of(source);
    const struct binlog_job *job;
    struct binlog_fields fields = {.id = 0};
    enum source_answer answer;

    if (bs->next == bs->index.count) {
        return SOURCE_END;
    }
    job = bs->index.sorted[bs->next];
    news->image = (struct job_image){.ttr = 0};
    answer = binlog_read_fields(bs, job, &fields, news);
    if (answer == SOURCE_JOB) {
        binlog_job_image(&fields, &news->image);
        answer = binlog_read_full(bs, job, &news->image, news);
    }
    bs->next++;
    return answer;
}

static bool binlog_source_place(const struct source *source, char *to, size_t size)
{
    return source_real_path(binlog_source_of(source)->path, to, size);
}

static void binlog_source_close(struct source *source)
{
    struct binlog_source *bs = binlog_source_of(source);

    binlog_scan_close(&bs->scan);
    binlog_window_close(&bs->full);
    binlog_window_close(&bs->last);
    free(bs->print.bytes);
    binlog_index_clear(&bs->index);
    binlog_dir_close(&bs->dir);
    free(bs->body);
    free(bs->path);
    free(bs);
}

static const struct source_ops binlog_source_ops = {
    .glance = binlog_source_glance,
    .survey = binlog_source_survey,
    .progress = binlog_source_progress,
    .fingerprint = binlog_source_fingerprint,
    .same = binlog_source_same,
    .next = binlog_source_next,
    .place = binlog_source_place,
    .close = binlog_source_close,
};

static struct source *binlog_source_open(const char *place, struct source_news *news)
{
    struct binlog_source *bs = calloc(1, sizeof *bs);
    bool good;

    if (!bs) {
        (void)source_fail(news, "out of memory");
        return NULL;
    }
    bs->source.ops = &binlog_source_ops;
    binlog_index_init(&bs->index);
    bs->path = strdup(place);
    good = binlog_dir_open(&bs->dir, place, news);
    bs->scan.window.fd = bs->full.fd = bs->last.fd = -1;
    if (good &&
        (!bs->path || !binlog_scan_open(&bs->scan, &bs->dir, &bs->index) ||
         !binlog_window_open(&bs->full, &bs->dir) || !binlog_window_open(&bs->last, &bs->dir))) {
        (void)source_fail(news, "out of memory");
        good = false;
    }
    if (!good) {
        binlog_source_close(&bs->source);
        return NULL;
    }
    return &bs->source;
}

const struct source_kind beanstalkd_source = {.name = "beanstalkd", .open = binlog_source_open};
