/* SPDX-License-Identifier: MIT */
#include "transfer/gearmand/rows.h"

#include "core/base/macros.h"
#include "core/base/siphash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

// A slice of the survey: so many rows, or so many bytes and the row that has begun by then.
#define ROWS_AT_ONCE 64
#define BYTES_AT_ONCE ((size_t)1024 * 1024)
#define STAMP_MAX 64
#define PRINT_MAX 128
#define TABLE_OPTION "?table="

struct rows_source {
    struct source source;
    struct rows *rows;
    uint64_t count;        // rows that were surveyed
    uint64_t hash;         // of them
    uint64_t given;        // jobs
    uint64_t now_ms;       // when they are said to be created, as the table does not know
    char print[PRINT_MAX]; // what the rows are, a blank, and the stamp
};

static struct rows_source *of(const struct source *source)
{
    return container_of((struct source *)(uintptr_t)source, struct rows_source, source);
}

static bool stamp(const struct rows *rows, char text[STAMP_MAX])
{
    text[0] = '\0';
    return !rows->ops->stamp || rows->ops->stamp(rows, text, STAMP_MAX);
}

static enum source_glance glance(struct source *source, struct slice old)
{
    char text[STAMP_MAX];
    const char *blank = old.len > 0 ? memchr(old.ptr, ' ', old.len) : NULL;
    size_t at = blank ? (size_t)(blank - old.ptr) + 1 : old.len;

    if (!stamp(of(source)->rows, text)) {
        return SOURCE_GONE;
    }
    return *text && slice_equal(slice_from(old, at), slice_str(text)) ? SOURCE_SAME : SOURCE_UNSURE;
}

static uint64_t mix(uint64_t hash, struct slice bytes)
{
    const struct siphash_key key = {{hash, bytes.len}};

    return siphash(&key, bytes.len > 0 ? bytes.ptr : "", bytes.len);
}

static void count_row(struct rows_source *rs, const struct row *row)
{
    const int64_t numbers[] = {row->priority, row->when_to_run};

    rs->count++;
    rs->hash = mix(rs->hash, row->unique);
    rs->hash = mix(rs->hash, row->function);
    rs->hash = mix(rs->hash, row->data);
    rs->hash = mix(rs->hash, slice_of((const char *)numbers, sizeof numbers));
}

static enum source_answer survey_row(struct rows_source *rs, const struct row *row,
                                     struct source_news *news)
{
    struct job_image image;
    char why[128];

    count_row(rs, row);
    if (!rows_image(row, rs->count, rs->now_ms, &image, why, sizeof why)) {
        return source_damage(news, rs->rows->table, row->number, "%s", why);
    }
    return SOURCE_JOB;
}

static enum source_answer end_survey(struct rows_source *rs, struct source_news *news)
{
    char text[STAMP_MAX];

    if (!rs->rows->ops->rewind(rs->rows, news)) {
        return SOURCE_FAILED;
    }
    (void)stamp(rs->rows, text);
    (void)snprintf(rs->print, sizeof rs->print, "%" PRIu64 ":%016" PRIx64 " %s", rs->count,
                   rs->hash, text);
    return SOURCE_END;
}

static enum source_answer survey(struct source *source, struct source_news *news)
{
    struct rows_source *rs = of(source);
    size_t bytes = 0;

    for (unsigned i = 0; i < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE; i++) {
        struct row row;
        enum source_answer answer = rs->rows->ops->read(rs->rows, &row, news);

        if (answer == SOURCE_JOB) {
            bytes += row.data.len;
            answer = survey_row(rs, &row, news);
        }
        if (answer != SOURCE_JOB) {
            return answer == SOURCE_END ? end_survey(rs, news) : answer;
        }
    }
    return SOURCE_MORE;
}

static void progress(const struct source *source, struct source_progress *progress)
{
    const struct rows_source *rs = of(source);

    *progress = (struct source_progress){.read = rs->count};
    if (rs->rows->ops->progress) {
        rs->rows->ops->progress(rs->rows, progress);
    }
    progress->jobs = rs->print[0] != '\0' ? rs->count : 0;
}

static struct slice fingerprint(const struct source *source)
{
    const struct rows_source *rs = of(source);

    return slice_str(rs->print);
}

static struct slice rows_part(struct slice print)
{
    const char *blank = print.len > 0 ? memchr(print.ptr, ' ', print.len) : NULL;

    return blank ? slice_of(print.ptr, (size_t)(blank - print.ptr)) : print;
}

static bool same(const struct source *source, struct slice old)
{
    return slice_equal(rows_part(fingerprint(source)), rows_part(old));
}

static enum source_answer next(struct source *source, struct source_news *news)
{
    struct rows_source *rs = of(source);
    enum source_answer answer;
    struct row row;
    char why[128];

    // What is damaged was told in the survey.
    while ((answer = rs->rows->ops->read(rs->rows, &row, news)) == SOURCE_DAMAGE ||
           (answer == SOURCE_JOB &&
            !rows_image(&row, rs->given + 1, rs->now_ms, &news->image, why, sizeof why))) {
    }
    rs->given += answer == SOURCE_JOB;
    return answer;
}

static bool place(const struct source *source, char *to, size_t size)
{
    const struct rows *rows = of(source)->rows;
    size_t len;

    if (!rows->ops->path || !source_real_path(rows->ops->path(rows), to, size)) {
        return false;
    }
    len = strlen(to);
    return (size_t)snprintf(to + len, size - len, TABLE_OPTION "%s", rows->table) < size - len;
}

static void close_source(struct source *source)
{
    struct rows_source *rs = of(source);

    rs->rows->ops->close(rs->rows);
    free(rs);
}

static const struct source_ops ops = {
    .glance = glance,
    .survey = survey,
    .progress = progress,
    .fingerprint = fingerprint,
    .same = same,
    .next = next,
    .place = place,
    .close = close_source,
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
    rs->source.ops = &ops;
    rs->rows = rows;
    rs->now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)(now.tv_nsec / NSEC_PER_MSEC);
    return &rs->source;
}

char *rows_place(const char *place, const char *preset, char table[TABLE_NAME_MAX + 1],
                 struct source_news *news)
{
    const char *found = strstr(place, TABLE_OPTION);
    const char *name = found ? found + sizeof TABLE_OPTION - 1 : preset;
    char *copy;

    if (*name == '\0' || strlen(name) > TABLE_NAME_MAX) {
        (void)source_fail(news, "a table's name has 1 to %d bytes", TABLE_NAME_MAX);
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
