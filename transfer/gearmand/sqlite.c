/* SPDX-License-Identifier: MIT */
#include "transfer/gearmand/sqlite.h"

#include "core/base/macros.h"

#include "transfer/gearmand/rows.h"
#include "transfer/gearmand/sqlite_file.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_ROW, COLUMN_UNIQUE, COLUMN_FUNCTION, COLUMN_PRIORITY, COLUMN_DATA, COLUMN_WHEN };

struct sqlite_rows {
    struct rows rows;
    char *path; // as it was given
    struct sqlite_file file;
    sqlite3 *db; // NULL: there is no file
    sqlite3_stmt *select;
};

static struct sqlite_rows *of(const struct rows *rows)
{
    return container_of((struct rows *)(uintptr_t)rows, struct sqlite_rows, rows);
}

static bool fail(struct sqlite_rows *sr, struct source_news *news)
{
    (void)source_fail(news, "%.120s: %.100s", sr->path,
                      sr->db ? sqlite3_errmsg(sr->db) : "out of memory");
    return false;
}

// The bytes of a column, whatever its type; NULL has none.
static struct slice bytes_of(sqlite3_stmt *select, int column)
{
    const char *at = sqlite3_column_blob(select, column);
    int len = sqlite3_column_bytes(select, column);

    return at && len > 0 ? slice_of(at, (size_t)len) : SLICE("");
}

static enum source_answer read_row(struct rows *rows, struct row *row, struct source_news *news)
{
    struct sqlite_rows *sr = of(rows);
    sqlite3_stmt *select = sr->select;
    int got = select ? sqlite3_step(select) : SQLITE_DONE;

    if (!sr->db) {
        return source_fail(news, "%.200s: there is no such file", sr->path);
    }
    if (got != SQLITE_ROW) {
        return got == SQLITE_DONE || fail(sr, news) ? SOURCE_END : SOURCE_FAILED;
    }
    *row = (struct row){
        .unique = bytes_of(select, COLUMN_UNIQUE),
        .function = bytes_of(select, COLUMN_FUNCTION),
        .data = bytes_of(select, COLUMN_DATA),
        .priority = sqlite3_column_int64(select, COLUMN_PRIORITY),
        .when_to_run = sqlite3_column_int64(select, COLUMN_WHEN),
        .number = (uint64_t)sqlite3_column_int64(select, COLUMN_ROW),
    };
    if (sqlite3_column_type(select, COLUMN_PRIORITY) != SQLITE_INTEGER) {
        return source_damage(news, rows->table, row->number, "the priority is no number");
    }
    return SOURCE_JOB;
}

static bool rewind_rows(struct rows *rows, struct source_news *news)
{
    struct sqlite_rows *sr = of(rows);

    return !sr->select || sqlite3_reset(sr->select) == SQLITE_OK || fail(sr, news);
}

static bool stamp(const struct rows *rows, char *to, size_t size)
{
    return rows_stamp_file(of(rows)->path, to, size);
}

static const char *path_of(const struct rows *rows)
{
    return of(rows)->path;
}

static void close_rows(struct rows *rows)
{
    struct sqlite_rows *sr = of(rows);

    (void)sqlite3_finalize(sr->select);
    (void)sqlite3_close(sr->db);
    sqlite_file_forget(&sr->file);
    free(sr->path);
    free(sr);
}

static const struct rows_ops ops = {
    .read = read_row,
    .rewind = rewind_rows,
    .stamp = stamp,
    .path = path_of,
    .close = close_rows,
};

// Older tables have no moment in them: gearmand asks the same way.
static bool has_column(struct sqlite_rows *sr, const char *column)
{
    char *ask = sqlite3_mprintf("SELECT %s FROM \"%w\"", column, sr->rows.table);
    sqlite3_stmt *statement = NULL;
    bool has = ask && sqlite3_prepare_v2(sr->db, ask, -1, &statement, NULL) == SQLITE_OK;

    (void)sqlite3_finalize(statement);
    sqlite3_free(ask);
    return has;
}

// In the order in which gearmand sees them, of a moment that does not pass while they are read: no
// other process can write meanwhile.
static bool begin(struct sqlite_rows *sr)
{
    const char *when = has_column(sr, "when_to_run") ? "when_to_run" : "0";
    char *ask = sqlite3_mprintf("SELECT rowid, unique_key, function_name, priority, data, %s "
                                "FROM \"%w\" ORDER BY rowid",
                                when, sr->rows.table);
    bool good = ask && sqlite3_exec(sr->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(sr->db, ask, -1, &sr->select, NULL) == SQLITE_OK;

    sqlite3_free(ask);
    return good;
}

// What SQLite makes up when it is asked: rows without an end, and without a file that holds them.
static bool is_made_up(struct sqlite_rows *sr)
{
    char *ask = sqlite3_mprintf("SELECT 1 FROM sqlite_master WHERE name = %Q COLLATE NOCASE "
                                "AND type IN ('table', 'view') AND rootpage = 0",
                                sr->rows.table);
    sqlite3_stmt *statement = NULL;
    bool made_up = ask && sqlite3_prepare_v2(sr->db, ask, -1, &statement, NULL) == SQLITE_OK &&
                   sqlite3_step(statement) == SQLITE_ROW;

    (void)sqlite3_finalize(statement);
    sqlite3_free(ask);
    return made_up;
}

static bool open_database(struct sqlite_rows *sr, struct source_news *news)
{
    // A copy may be mended by its journal, the file itself may not be touched.
    int flags;

    if (!rows_may_be_file(sr->path, news)) {
        return false;
    }
    if (sqlite_file_is_used(sr->path)) {
        (void)source_fail(news, "%.160s: a process has it open: stop gearmand first", sr->path);
        return false;
    }
    if (!sqlite_file_find(&sr->file, sr->path, news)) {
        return false;
    }
    flags = sr->file.folder ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    if (sqlite3_open_v2(sr->file.path, &sr->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        return fail(sr, news);
    }
    if (is_made_up(sr)) {
        (void)source_fail(news, "%.120s: %s is a view, or a virtual table, and no table of rows",
                          sr->path, sr->rows.table);
        return false;
    }
    return begin(sr) || fail(sr, news);
}

struct source *gearmand_sqlite_open(const char *place, struct source_news *news)
{
    struct sqlite_rows *sr = calloc(1, sizeof *sr);
    char unused[2];

    if (!sr) {
        (void)source_fail(news, "out of memory");
        return NULL;
    }
    sr->rows.ops = &ops;
    sr->path = rows_place(place, "gearman_queue", sr->rows.table, news);
    if (!sr->path ||
        (rows_stamp_file(sr->path, unused, sizeof unused) && !open_database(sr, news))) {
        close_rows(&sr->rows);
        return NULL;
    }
    return rows_source(&sr->rows, news);
}
