/* SPDX-License-Identifier: MIT */
#include "transfer/beanstalkd/beanstalkd.h"

#include "core/job.h"
#include "core/submit.h"
#include "transfer/beanstalkd/binlog_print.h"
#include "transfer/beanstalkd/binlog_scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct binlog_source {
    struct source source;
    char *path; // as it was given
    struct binlog_dir dir;
    struct binlog_index index;
    struct binlog_scan scan;
    struct binlog_window full; // on records with a body
    struct binlog_window last; // on the youngest records
    struct binlog_print print;
    size_t next; // of index.sorted
    char name[BINLOG_NAME_MAX];
    char *body; // one that is larger than a window
    size_t body_room;
};

static struct binlog_source *of(const struct source *source)
{
    return container_of((struct source *)(uintptr_t)source, struct binlog_source, source);
}

static enum source_glance binlog_source_glance(struct source *source, struct slice old)
{
    const struct binlog_source *bs = of(source);

    if (bs->dir.count == 0) {
        return SOURCE_GONE;
    }
    return binlog_print_has_files(old, &bs->dir) ? SOURCE_SAME : SOURCE_UNSURE;
}

static enum source_answer binlog_source_survey(struct source *source, struct source_news *news)
{
    struct binlog_source *bs = of(source);
    enum source_answer answer;

    if (bs->dir.count == 0) {
        return source_fail(news, "there are no files of beanstalkd's (binlog.N)");
    }
    answer = binlog_scan_go_on(&bs->scan, news);
    if (answer == SOURCE_END &&
        (!binlog_index_sort(&bs->index) || !binlog_print_make(&bs->print, &bs->dir, &bs->scan))) {
        return source_fail(news, "out of memory");
    }
    return answer;
}

static void binlog_source_progress(const struct source *source, struct source_progress *progress)
{
    const struct binlog_source *bs = of(source);

    const struct binlog_scan *scan = &bs->scan;
    // What is known to be empty counts as it is looked at: it may be much.
    uint64_t empty = scan->ends && scan->end_at > scan->at ? scan->end_at - scan->at : 0;

    *progress = (struct source_progress){
        .read = scan->passed + empty, .size = scan->size, .jobs = bs->index.count};
}

static struct slice binlog_source_fingerprint(const struct source *source)
{
    return binlog_print_bytes(&of(source)->print);
}

static bool binlog_source_same(const struct source *source, struct slice old)
{
    return binlog_print_has_jobs(old, &of(source)->print);
}

static enum source_answer cannot_read(const struct binlog_source *bs, const struct binlog_job *job,
                                      const char *why, struct source_news *news)
{
    char name[BINLOG_FILE_NAME];

    binlog_file_name(bs->dir.files[job->full_file].number, name);
    return source_fail(news, "%s: job %" PRIu64 ": %s", name, job->id, why);
}

static enum source_answer read_fields(struct binlog_source *bs, const struct binlog_job *job,
                                      struct binlog_fields *fields, struct source_news *news)
{
    struct binlog_layout layout;
    struct slice got;
    int error;

    (void)binlog_layout_find(bs->scan.versions[job->last_file], &layout);
    error = binlog_window_look(&bs->last, job->last_file, job->last_at, layout.fields_size, &got);
    if (error || got.len < layout.fields_size) {
        return cannot_read(bs, job, error ? strerror(error) : "the file has been cut off", news);
    }
    binlog_fields_read(&layout, got.ptr, fields);
    return SOURCE_JOB;
}

static bool make_room(struct binlog_source *bs, size_t size)
{
    if (size > bs->body_room) {
        free(bs->body);
        bs->body = malloc(size);
        bs->body_room = bs->body ? size : 0;
    }
    return bs->body != NULL;
}

// The name, which is copied, and the body, which is in the window where it is small.
static enum source_answer read_full(struct binlog_source *bs, const struct binlog_job *job,
                                    struct job_image *image, struct source_news *news)
{
    size_t size = (size_t)job->body_size;
    struct binlog_layout layout;
    struct slice got;
    size_t name_len;
    size_t head;
    int error;

    (void)binlog_layout_find(bs->scan.versions[job->full_file], &layout);
    error = binlog_window_look(&bs->full, job->full_file, job->full_at, BINLOG_HEAD_MAX, &got);
    if (error || got.len < layout.length_size) {
        return cannot_read(bs, job, error ? strerror(error) : "the file has been cut off", news);
    }
    name_len = (size_t)binlog_name_length(&layout, got.ptr);
    head = layout.length_size + name_len + layout.fields_size;
    if (name_len > BINLOG_NAME_MAX || got.len < head) {
        return cannot_read(bs, job, "the file has changed", news);
    }
    memcpy(bs->name, got.ptr + layout.length_size, name_len);
    image->queue = slice_of(bs->name, name_len);
    if (size <= BINLOG_WINDOW) {
        error = binlog_window_look(&bs->full, job->full_file, job->full_at + head, size, &got);
        image->body = got;
        error = error || got.len == size ? error : EIO;
    } else if (make_room(bs, size)) {
        error = binlog_window_copy(&bs->full, job->full_file, job->full_at + head, bs->body, size);
        image->body = slice_of(bs->body, size);
    } else {
        error = ENOMEM;
    }
    image->body.len -= error ? 0 : BINLOG_BODY_END;
    return error ? cannot_read(bs, job, strerror(error), news) : SOURCE_JOB;
}

static uint32_t in_seconds(nsec_t time)
{
    uint64_t seconds = (uint64_t)(time / NSEC_PER_SEC);

    return seconds < UINT32_MAX ? (uint32_t)seconds : UINT32_MAX;
}

static uint8_t state_of(const struct binlog_fields *fields)
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

// What a job of a beanstalk client is in this broker, too.
static void describe(const struct binlog_fields *fields, struct job_image *image)
{
    // Of the day on which bits for a moment of creation run out.
    static const uint64_t created_most_ms = (UINT64_C(1) << 42) - 1;
    uint64_t created_ms = (uint64_t)(fields->created_at / NSEC_PER_MSEC);
    uint32_t ttr = in_seconds(fields->ttr_for);

    image->now = (struct job_change){.id = fields->id,
                                     .state = state_of(fields),
                                     .pri = fields->pri,
                                     .delay = in_seconds(fields->delay_for),
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
    struct binlog_source *bs = of(source);
    const struct binlog_job *job;
    struct binlog_fields fields = {.id = 0};
    enum source_answer answer;

    if (bs->next == bs->index.count) {
        return SOURCE_END;
    }
    job = bs->index.sorted[bs->next];
    news->image = (struct job_image){.ttr = 0};
    answer = read_fields(bs, job, &fields, news);
    if (answer == SOURCE_JOB) {
        describe(&fields, &news->image);
        answer = read_full(bs, job, &news->image, news);
    }
    bs->next++;
    return answer;
}

static bool binlog_source_place(const struct source *source, char *to, size_t size)
{
    return source_real_path(of(source)->path, to, size);
}

static void binlog_source_close(struct source *source)
{
    struct binlog_source *bs = of(source);

    binlog_scan_close(&bs->scan);
    binlog_window_close(&bs->full);
    binlog_window_close(&bs->last);
    binlog_print_clear(&bs->print);
    binlog_index_clear(&bs->index);
    binlog_dir_close(&bs->dir);
    free(bs->body);
    free(bs->path);
    free(bs);
}

static const struct source_ops ops = {
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
    bs->source.ops = &ops;
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
