/* SPDX-License-Identifier: MIT */
#include "transfer/gearmand/mysql_dump.h"

#include "core/base/macros.h"

#include "transfer/gearmand/dump_read.h"
#include "transfer/gearmand/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct dump_rows {
    struct rows rows;
    char *path;
    FILE *file; // NULL: there is none
    struct dump_read read;
};

static struct dump_rows *of(const struct rows *rows)
{
    return container_of((struct rows *)(uintptr_t)rows, struct dump_rows, rows);
}

static enum source_answer read_row(struct rows *rows, struct row *row, struct source_news *news)
{
    struct dump_rows *dr = of(rows);
    enum source_answer answer;

    if (!dr->file) {
        return source_fail(news, "%.200s: there is no such file", dr->path);
    }
    answer = dump_read_next(&dr->read, row, news);
    if (answer == SOURCE_END && !dr->read.named) {
        return source_fail(news, "%.120s: there is no table %s in this dump", dr->path,
                           dr->rows.table);
    }
    return answer;
}

static bool rewind_rows(struct rows *rows, struct source_news *news)
{
    struct dump_rows *dr = of(rows);

    if (fseeko(dr->file, 0, SEEK_SET) != 0) {
        (void)source_fail(news, "%.160s: %s", dr->path, strerror(errno));
        return false;
    }
    dump_read_begin(&dr->read, dr->file, dr->rows.table);
    return true;
}

static bool stamp(const struct rows *rows, char *to, size_t size)
{
    return rows_stamp_file(of(rows)->path, to, size);
}

static void progress(const struct rows *rows, struct source_progress *progress)
{
    const struct dump_rows *dr = of(rows);
    struct stat about;

    if (dr->file && fstat(fileno(dr->file), &about) == 0) {
        progress->read = (uint64_t)ftello(dr->file);
        progress->size = (uint64_t)about.st_size;
    }
}

static const char *path_of(const struct rows *rows)
{
    return of(rows)->path;
}

static void close_rows(struct rows *rows)
{
    struct dump_rows *dr = of(rows);

    if (dr->file) {
        (void)fclose(dr->file);
    }
    dump_read_end(&dr->read);
    free(dr->path);
    free(dr);
}

static const struct rows_ops ops = {
    .read = read_row,
    .rewind = rewind_rows,
    .stamp = stamp,
    .progress = progress,
    .path = path_of,
    .close = close_rows,
};

struct source *gearmand_mysql_dump_open(const char *place, struct source_news *news)
{
    struct dump_rows *dr = calloc(1, sizeof *dr);
    bool good;

    if (!dr) {
        (void)source_fail(news, "out of memory");
        return NULL;
    }
    dr->rows.ops = &ops;
    dr->path = rows_place(place, "gearman_queue", dr->rows.table, news);
    good = dr->path && rows_may_be_file(dr->path, news);
    dr->file = good ? fopen(dr->path, "re") : NULL;
    if (!good || (!dr->file && errno != ENOENT)) {
        if (good) {
            (void)source_fail(news, "%.160s: %s", dr->path, strerror(errno));
        }
        close_rows(&dr->rows);
        return NULL;
    }
    dump_read_begin(&dr->read, dr->file, dr->rows.table);
    return rows_source(&dr->rows, news);
}
