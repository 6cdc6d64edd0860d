/* SPDX-License-Identifier: MIT */
#include "transfer/gearmand/rows.h"

#include "core/base/macros.h"
#include "core/base/siphash.h"
#include "core/submit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

// Limits of a slice of the survey. The row that reaches the limit of bytes is still read.
#define ROWS_AT_ONCE 64
#define BYTES_AT_ONCE ((size_t)1024 * 1024)
#define STAMP_MAX 64
#define PRINT_MAX 128
#define TABLE_OPTION "?table="

struct rows_source {
    struct source source;
    struct rows *rows;
    uint64_t count;        // surveyed rows
    uint64_t hash;         // of these rows
    uint64_t given;        // jobs that were yielded
    uint64_t now_ms;       // the creation time of all jobs: the table has none
    char print[PRINT_MAX]; // count and hash of the rows, a blank, and the stamp
};

static struct rows_source *rows_source_of(const struct source *source)
{
    return container_of((struct source *)(uintptr_t)source, struct rows_source, source);
}

static bool rows_stamp(const struct rows *rows, char text[STAMP_MAX])
{
    text[0] = '\0';
    return !rows->ops->stamp || rows->ops->stamp(rows, text, STAMP_MAX);
}

static enum source_glance rows_source_glance(struct source *source, struct slice old)
{
    char text[STAMP_MAX];
    const char *blank = old.len > 0 ? memchr(old.ptr, ' ', old.len) : NULL;
    size_t at = blank ? (size_t)(blank - old.ptr) + 1 : old.len;

    if (!rows_stamp(rows_source_of(source)->rows, text)) {
        return SOURCE_GONE;
    }
    return *text && slice_equal(slice_from(old, at), slice_str(text)) ? SOURCE_SAME : SOURCE_UNSURE;
}

static uint64_t rows_mix(uint64_t hash, struct slice bytes)
{
    const struct siphash_key key = {{hash, bytes.len}};

    return siphash(&key, bytes.len > 0 ? bytes.ptr : "", bytes.len);
}

static enum source_answer rows_survey_row(struct rows_source *rs, const struct row *row,
                                          struct source_news *news)
{
    const int64_t numbers[] = {row->priority, row->when_to_run};
    struct job_image image;
    char why[128];

    rs->count++;
    rs->hash = rows_mix(rs->hash, row->unique);
    rs->hash = rows_mix(rs->hash, row->function);
    rs->hash = rows_mix(rs->hash, row->data);
    rs->hash = rows_mix(rs->hash, slice_of((const char *)numbers, sizeof numbers));
    if (!rows_image(row, rs->count, rs->now_ms, &image, why, sizeof why)) {
        return source_damage(news, rs->rows->table, row->number, "%s", why);
    }
    return SOURCE_JOB;
}

static enum source_answer rows_end_survey(struct rows_source *rs, struct source_news *news)
{
    char text[STAMP_MAX];

    if (!rs->rows->ops->rewind(rs->rows, news)) {
        return SOURCE_FAILED;
    }
    (void)rows_stamp(rs->rows, text);
    (void)snprintf(rs->print, sizeof rs->print, "%" PRIu64 ":%016" PRIx64 " %s", rs->count,
                   rs->hash, text);
    return SOURCE_END;
}

static enum source_answer rows_source_survey(struct source *source, struct source_news *news)
{
    struct rows_source *rs = rows_source_of(source);
    size_t bytes = 0;

    for (unsigned i = 0; i < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE; i++) {
        struct row row;
        enum source_answer answer = rs->rows->ops->read(rs->rows, &row, news);

        if (answer == SOURCE_JOB) {
            bytes += row.data.len;
            answer = rows_survey_row(rs, &row, news);
        }
        if (answer != SOURCE_JOB) {
            return answer == SOURCE_END ? rows_end_survey(rs, news) : answer;
        }
    }
    return SOURCE_MORE;
}

static void rows_source_progress(const struct source *source, struct source_progress *progress)
{
    const struct rows_source *rs = rows_source_of(source);

    *progress = (struct source_progress){.read = rs->count};
    if (rs->rows->ops->progress) {
        rs->rows->ops->progress(rs->rows, progress);
    }
    progress->jobs = rs->print[0] != '\0' ? rs->count : 0;
}

static struct slice rows_source_fingerprint(const struct source *source)
{
    const struct rows_source *rs = rows_source_of(source);

    return slice_str(rs->print);
}

static struct slice rows_hash_part(struct slice print)
{
    const char *blank = print.len > 0 ? memchr(print.ptr, ' ', print.len) : NULL;

    return blank ? slice_of(print.ptr, (size_t)(blank - print.ptr)) : print;
}

static bool rows_source_same(const struct source *source, struct slice old)
{
    return slice_equal(rows_hash_part(rows_source_fingerprint(source)), rows_hash_part(old));
}

static enum source_answer rows_source_next(struct source *source, struct source_news *news)
{
    struct rows_source *rs = rows_source_of(source);
    enum source_answer answer;
    struct row row;
    char why[128];

    // The survey has reported the damaged rows.
    while ((answer = rs->rows->ops->read(rs->rows, &row, news)) == SOURCE_DAMAGE ||
           (answer == SOURCE_JOB &&
            !rows_image(&row, rs->given + 1, rs->now_ms, &news->image, why, sizeof why))) {
    }
    rs->given += answer == SOURCE_JOB;
    return answer;
}

static bool rows_source_place(const struct source *source, char *to, size_t size)
{
    const struct rows *rows = rows_source_of(source)->rows;
    size_t len;

    if (!rows->ops->path || !source_real_path(rows->ops->path(rows), to, size)) {
        return false;
    }
    len = strlen(to);
    return (size_t)snprintf(to + len, size - len, TABLE_OPTION "%s", rows->table) < size - len;
}

static void rows_source_close(struct source *source)
{
    struct rows_source *rs = rows_source_of(source);

    rs->rows->ops->close(rs->rows);
    free(rs);
}

static const struct source_ops rows_source_ops = {
    .glance = rows_source_glance,
    .survey = rows_source_survey,
    .progress = rows_source_progress,
    .fingerprint = rows_source_fingerprint,
    .same = rows_source_same,
    .next = rows_source_next,
    .place = rows_source_place,
    .close = rows_source_close,
};

struct source *rows_source(struct rows *rows, struct source_news *news)
{
    struct rows_source *rs = calloc(1, sizeof *rs);
    struct timespec now;

    if (!rs) {
        rows->ops->close(rows);
        (void)source_fail(news, "out of memory");
        return NULL;
    }
    (void)clock_gettime(CLOCK_REALTIME, &now);
    rs->source.ops = &rows_source_ops;
    rs->rows = rows;
    rs->now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)(now.tv_nsec / NSEC_PER_MSEC);
    return &rs->source;
}

char *rows_place(const char *place, const char *fallback, char table[TABLE_NAME_MAX + 1],
                 struct source_news *news)
{
    const char *found = strstr(place, TABLE_OPTION);
    const char *name = found ? found + sizeof TABLE_OPTION - 1 : fallback;
    char *copy;

    if (*name == '\0' || strlen(name) > TABLE_NAME_MAX) {
        (void)source_fail(news, "the name of a table must have 1 to %d bytes", TABLE_NAME_MAX);
        return NULL;
    }
    memcpy(table, name, strlen(name) + 1);
    copy = strndup(place, found ? (size_t)(found - place) : strlen(place));
    if (!copy) {
        (void)source_fail(news, "out of memory");
    }
    return copy;
}

bool rows_may_be_file(const char *path, struct source_news *news)
{
    struct stat about;

    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        (void)source_fail(news, "%.160s is not a regular file", path);
        return false;
    }
    return true;
}

bool rows_stamp_file(const char *path, char *to, size_t size)
{
    struct stat about;

    if (stat(path, &about) != 0) {
        return false;
    }
    (void)snprintf(to, size, "%" PRIu64 ":%" PRIu64 ".%09" PRIu64, (uint64_t)about.st_size,
                   (uint64_t)about.st_mtim.tv_sec, (uint64_t)about.st_mtim.tv_nsec);
    return true;
}

static bool rows_is_good(const struct row *row, char *why, size_t size)
{
    if (row->function.len == 0 || row->function.len > QUEUE_NAME_MAX ||
        memchr(row->function.ptr, '\0', row->function.len)) {
        (void)snprintf(why, size, "the name of a function must have 1 to %d bytes and no NUL",
                       QUEUE_NAME_MAX);
    } else if (row->unique.len > JOB_KEY_MAX) {
        (void)snprintf(why, size, "the unique key is longer than %d bytes", JOB_KEY_MAX);
    } else if (row->priority < 0 || row->priority > 2) {
        (void)snprintf(why, size, "priority %" PRId64 " is not 0, 1 or 2", row->priority);
    } else {
        return true;
    }
    return false;
}

bool rows_image(const struct row *row, uint64_t id, uint64_t now_ms, struct job_image *image,
                char *why, size_t size)
{
    static const uint32_t priorities[] = {PRI_HIGH, PRI_NORMAL, PRI_LOW};
    const nsec_t latest = NSEC_NEVER / NSEC_PER_SEC;

    if (!rows_is_good(row, why, size)) {
        return false;
    }
    *image = (struct job_image){
        .now = {.id = id, .state = JOB_READY, .pri = priorities[row->priority]},
        .queue = row->function,
        .on_fail = ON_FAIL_DROP,
        .on_loss = ON_LOSS_BACK,
        .created_ms = now_ms,
        .body = row->data,
    };
    if (slice_equal(row->unique, SLICE("-"))) {
        image->key_kind = row->data.len > 0 ? KEY_CONTENT : KEY_NONE;
    } else if (row->unique.len > 0) {
        image->key_kind = KEY_NAME;
        image->key = row->unique;
    }
    if (row->when_to_run > 0) {
        image->now.state = JOB_DELAYED;
        image->now.on_wall = true;
        image->now.due_at =
            nsec_from_seconds((uint64_t)(row->when_to_run < latest ? row->when_to_run : latest));
    }
    return true;
}
