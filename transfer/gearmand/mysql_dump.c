/* SPDX-License-Identifier: MIT */
// gearmand-mysql-dump:FILE, a dump of gearmand's table (dump_read.h). A dump that does not name the
// table is refused, because it is a dump of something else.

#include "transfer/gearmand/gearmand.h"

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
    FILE *file; // NULL: the file is missing
    struct dump_read read;
};

static struct dump_rows *dump_rows_of(const struct rows *rows)
{
    return container_of((struct rows *)(uintptr_t)rows, struct dump_rows, rows);
}

static enum source_answer dump_rows_read(struct rows *rows, struct row *row,
                                         struct source_news *news)
{
    struct dump_rows *dr = dump_rows_of(rows);
    enum source_answer answer;

    if (!dr->file) {
        return source_fail(news, "%.200s does not exist", dr->path);
    }
    answer = dump_read_next(&dr->read, row, news);
    if (answer == SOURCE_END && !dr->read.named) {
        return source_fail(news, "%.120s: the dump has no table %s", dr->path, dr->rows.table);
    }
    return answer;
}

static bool dump_rows_rewind(struct rows *rows, struct source_news *news)
{
    struct dump_rows *dr = dump_rows_of(rows);

    if (fseeko(dr->file, 0, SEEK_SET) != 0) {
        (void)source_fail(news, "%.160s: %s", dr->path, strerror(errno));
        return false;
    }
    dump_read_begin(&dr->read, dr->file, dr->rows.table);
    return true;
}

static bool dump_rows_stamp(const struct rows *rows, char *to, size_t size)
{
    return rows_stamp_file(dump_rows_of(rows)->path, to, size);
}

static void dump_rows_progress(const struct rows *rows, struct source_progress *progress)
{
    const struct dump_rows *dr = dump_rows_of(rows);
    struct stat about;

    if (dr->file && fstat(fileno(dr->file), &about) == 0) {
        progress->read = (uint64_t)ftello(dr->file);
        progress->size = (uint64_t)about.st_size;
    }
}

static const char *dump_rows_path(const struct rows *rows)
{
    return dump_rows_of(rows)->path;
}

static void dump_rows_close(struct rows *rows)
{
    struct dump_rows *dr = dump_rows_of(rows);

    if (dr->file) {
        (void)fclose(dr->file);
    }
    dump_read_end(&dr->read);
    free(dr->path);
    free(dr);
}

static const struct rows_ops dump_rows_ops = {
    .read = dump_rows_read,
    .rewind = dump_rows_rewind,
    .stamp = dump_rows_stamp,
    .progress = dump_rows_progress,
    .path = dump_rows_path,
    .close = dump_rows_close,
};

static struct source *dump_rows_open(const char *place, struct source_news *news)
{
    struct dump_rows *dr = calloc(1, sizeof *dr);
    bool good;

    if (!dr) {
        (void)source_fail(news, "out of memory");
        return NULL;
    }
    dr->rows.ops = &dump_rows_ops;
    dr->path = rows_place(place, "gearman_queue", dr->rows.table, news);
    good = dr->path && rows_may_be_file(dr->path, news);
    dr->file = good ? fopen(dr->path, "re") : NULL;
    if (!good || (!dr->file && errno != ENOENT)) {
        if (good) {
            (void)source_fail(news, "%.160s: %s", dr->path, strerror(errno));
        }
        dump_rows_close(&dr->rows);
        return NULL;
    }
    dump_read_begin(&dr->read, dr->file, dr->rows.table);
    return rows_source(&dr->rows, news);
}

const struct source_kind gearmand_mysql_dump_source = {"gearmand-mysql-dump", dump_rows_open};
