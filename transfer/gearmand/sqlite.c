/* SPDX-License-Identifier: MIT */
// gearmand-sqlite:FILE, the table that `gearmand -q libsqlite3 --libsqlite3-db FILE` writes. The
// file is never changed.

// For fcntl(F_SETLEASE).
#define _GNU_SOURCE
#include "transfer/gearmand/gearmand.h"

#include "core/base/macros.h"
#include "transfer/gearmand/rows.h"
#include "transfer/source.h"

#include <sqlite3.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The file to open. If gearmand was killed, there is a rollback journal or a WAL beside the
// database, which SQLite must apply first. That is done on a copy in a temporary folder.
struct sqlite_file {
    char *path;   // owned
    char *folder; // owned: of the copy; NULL: no copy
};

// The database, and the journals that may lie beside it.
static const char *const sqlite_suffixes[] = {"", "-journal", "-wal"};
#define SQLITE_SUFFIXES (sizeof sqlite_suffixes / sizeof *sqlite_suffixes)
#define COPIED_AT_ONCE 65536

static char *sqlite_join(const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = malloc(size);

    if (text) {
        (void)snprintf(text, size, "%s%s%s", a, b, c);
    }
    return text;
}

static bool sqlite_has_content(const char *path, const char *end)
{
    char *name = sqlite_join(path, end, "");
    struct stat about;
    bool has = name && stat(name, &about) == 0 && about.st_size > 0;

    free(name);
    return has;
}

static bool sqlite_copy_bytes(int from, int to)
{
    char bytes[COPIED_AT_ONCE];
    ssize_t got;

    while ((got = read(from, bytes, sizeof bytes)) > 0) {
        for (ssize_t at = 0; at < got;) {
            ssize_t put = write(to, bytes + at, (size_t)(got - at));

            if (put < 0) {
                return false;
            }
            at += put;
        }
    }
    return got == 0;
}

static bool sqlite_copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in >= 0 ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    bool good = out >= 0 && sqlite_copy_bytes(in, out);
    int error = errno;

    if (in >= 0) {
        (void)close(in);
    }
    if (out >= 0) {
        (void)close(out);
    }
    errno = error;
    return good;
}

static bool sqlite_copy_all(const struct sqlite_file *file, const char *path)
{
    bool good = true;

    for (size_t i = 0; good && i < SQLITE_SUFFIXES; i++) {
        char *from = sqlite_join(path, sqlite_suffixes[i], "");
        char *to = sqlite_join(file->path, sqlite_suffixes[i], "");

        good = from && to &&
               (!sqlite_has_content(path, sqlite_suffixes[i]) || sqlite_copy_file(from, to));
        free(from);
        free(to);
    }
    return good;
}

// Frees it, and removes the copy.
static void sqlite_file_forget(struct sqlite_file *file)
{
    static const char *const made[] = {"", "-journal", "-wal", "-shm"};

    for (size_t i = 0; file->folder && file->path && i < sizeof made / sizeof *made; i++) {
        char *name = sqlite_join(file->path, made[i], "");

        if (name) {
            (void)unlink(name);
            free(name);
        }
    }
    if (file->folder) {
        (void)rmdir(file->folder);
    }
    free(file->folder);
    free(file->path);
    *file = (struct sqlite_file){.path = NULL};
}

static bool sqlite_make_copy(struct sqlite_file *file, const char *path, struct source_news *news)
{
    const char *temporary = getenv("TMPDIR");

    file->folder = sqlite_join(temporary ? temporary : "/tmp", "/tandem-import-", "XXXXXX");
    if (!file->folder || !mkdtemp(file->folder)) {
        (void)source_fail(news, "cannot make a temporary folder for a copy: %s", strerror(errno));
        free(file->folder);
        file->folder = NULL;
        return false;
    }
    file->path = sqlite_join(file->folder, "/", "queue");
    if (!file->path || !sqlite_copy_all(file, path)) {
        (void)source_fail(news, "cannot copy %.120s, which has a journal, to %.60s: %s", path,
                          file->folder, strerror(errno));
        sqlite_file_forget(file);
        return false;
    }
    return true;
}

// False with the reason.
static bool sqlite_file_find(struct sqlite_file *file, const char *path, struct source_news *news)
{
    *file = (struct sqlite_file){.path = NULL};
    if (sqlite_has_content(path, "-journal") || sqlite_has_content(path, "-wal")) {
        return sqlite_make_copy(file, path, news);
    }
    file->path = sqlite_join(path, "", "");
    if (!file->path) {
        (void)source_fail(news, "out of memory");
    }
    return file->path != NULL;
}

// Whether a process has the file open to write to it, as far as the system tells.
static bool sqlite_file_is_in_use(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool used;

    if (fd < 0) {
        return false;
    }
    // A read lease is refused while a process has the file open for writing (fcntl(2)). The system
    // grants leases only on own files, and on some file systems none: then this reports no use.
    used = fcntl(fd, F_SETLEASE, F_RDLCK) != 0 && errno == EAGAIN;
    (void)fcntl(fd, F_SETLEASE, F_UNLCK);
    (void)close(fd);
    return used;
}

enum { COLUMN_ROW, COLUMN_UNIQUE, COLUMN_FUNCTION, COLUMN_PRIORITY, COLUMN_DATA, COLUMN_WHEN };

struct sqlite_rows {
    struct rows rows;
    char *path; // as given
    struct sqlite_file file;
    sqlite3 *db; // NULL: the file is missing
    sqlite3_stmt *select;
};

static struct sqlite_rows *sqlite_rows_of(const struct rows *rows)
{
    return container_of((struct rows *)(uintptr_t)rows, struct sqlite_rows, rows);
}

static bool sqlite_fail(struct sqlite_rows *sr, struct source_news *news)
{
    (void)source_fail(news, "%.120s: %.100s", sr->path,
                      sr->db ? sqlite3_errmsg(sr->db) : "out of memory");
    return false;
}

// The bytes of a column of any type; NULL is empty.
static struct slice sqlite_bytes(sqlite3_stmt *select, int column)
{
    const char *at = sqlite3_column_blob(select, column);
    int len = sqlite3_column_bytes(select, column);

    return at && len > 0 ? slice_of(at, (size_t)len) : SLICE("");
}

static enum source_answer sqlite_rows_read(struct rows *rows, struct row *row,
                                           struct source_news *news)
{
    struct sqlite_rows *sr = sqlite_rows_of(rows);
    sqlite3_stmt *select = sr->select;
    int got = select ? sqlite3_step(select) : SQLITE_DONE;

    if (!sr->db) {
        return source_fail(news, "%.200s does not exist", sr->path);
    }
    if (got != SQLITE_ROW) {
        return got == SQLITE_DONE || sqlite_fail(sr, news) ? SOURCE_END : SOURCE_FAILED;
    }
    *row = (struct row){
        .unique = sqlite_bytes(select, COLUMN_UNIQUE),
        .function = sqlite_bytes(select, COLUMN_FUNCTION),
        .data = sqlite_bytes(select, COLUMN_DATA),
        .priority = sqlite3_column_int64(select, COLUMN_PRIORITY),
        .when_to_run = sqlite3_column_int64(select, COLUMN_WHEN),
        .number = (uint64_t)sqlite3_column_int64(select, COLUMN_ROW),
    };
    if (sqlite3_column_type(select, COLUMN_PRIORITY) != SQLITE_INTEGER) {
        return source_damage(news, rows->table, row->number, "the priority is not a number");
    }
    return SOURCE_JOB;
}

static bool sqlite_rows_rewind(struct rows *rows, struct source_news *news)
{
    struct sqlite_rows *sr = sqlite_rows_of(rows);

    return !sr->select || sqlite3_reset(sr->select) == SQLITE_OK || sqlite_fail(sr, news);
}

static bool sqlite_rows_stamp(const struct rows *rows, char *to, size_t size)
{
    return rows_stamp_file(sqlite_rows_of(rows)->path, to, size);
}

static const char *sqlite_rows_path(const struct rows *rows)
{
    return sqlite_rows_of(rows)->path;
}

static void sqlite_rows_close(struct rows *rows)
{
    struct sqlite_rows *sr = sqlite_rows_of(rows);

    (void)sqlite3_finalize(sr->select);
    (void)sqlite3_close(sr->db);
    sqlite_file_forget(&sr->file);
    free(sr->path);
    free(sr);
}

static const struct rows_ops sqlite_rows_ops = {
    .read = sqlite_rows_read,
    .rewind = sqlite_rows_rewind,
    .stamp = sqlite_rows_stamp,
    .path = sqlite_rows_path,
    .close = sqlite_rows_close,
};

// Tables of older versions have no when_to_run; gearmand tests it in the same way.
static bool sqlite_has_column(struct sqlite_rows *sr, const char *column)
{
    char *ask = sqlite3_mprintf("SELECT %s FROM \"%w\"", column, sr->rows.table);
    sqlite3_stmt *statement = NULL;
    bool has = ask && sqlite3_prepare_v2(sr->db, ask, -1, &statement, NULL) == SQLITE_OK;

    (void)sqlite3_finalize(statement);
    sqlite3_free(ask);
    return has;
}

// Selects the rows in the order in which gearmand reads them, in a transaction that keeps writers
// out until the end.
static bool sqlite_begin(struct sqlite_rows *sr)
{
    const char *when = sqlite_has_column(sr, "when_to_run") ? "when_to_run" : "0";
    char *ask = sqlite3_mprintf("SELECT rowid, unique_key, function_name, priority, data, %s "
                                "FROM \"%w\" ORDER BY rowid",
                                when, sr->rows.table);
    bool good = ask && sqlite3_exec(sr->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(sr->db, ask, -1, &sr->select, NULL) == SQLITE_OK;

    sqlite3_free(ask);
    return good;
}

// Whether the table is a view or a virtual table: its rows are computed, and may be endless.
static bool sqlite_is_virtual(struct sqlite_rows *sr)
{
    char *ask = sqlite3_mprintf("SELECT 1 FROM sqlite_master WHERE name = %Q COLLATE NOCASE "
                                "AND type IN ('table', 'view') AND rootpage = 0",
                                sr->rows.table);
    sqlite3_stmt *statement = NULL;
    bool virtual = ask && sqlite3_prepare_v2(sr->db, ask, -1, &statement, NULL) == SQLITE_OK &&
                   sqlite3_step(statement) == SQLITE_ROW;

    (void)sqlite3_finalize(statement);
    sqlite3_free(ask);
    return virtual;
}

static bool sqlite_open_database(struct sqlite_rows *sr, struct source_news *news)
{
    int flags;

    if (!rows_may_be_file(sr->path, news)) {
        return false;
    }
    if (sqlite_file_is_in_use(sr->path)) {
        (void)source_fail(news, "%.160s is in use: stop gearmand first", sr->path);
        return false;
    }
    if (!sqlite_file_find(&sr->file, sr->path, news)) {
        return false;
    }
    // SQLite may apply the journal to a copy, but must not change the file itself.
    flags = sr->file.folder ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    if (sqlite3_open_v2(sr->file.path, &sr->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        return sqlite_fail(sr, news);
    }
    if (sqlite_is_virtual(sr)) {
        (void)source_fail(news, "%.120s: %s is a view or a virtual table", sr->path,
                          sr->rows.table);
        return false;
    }
    return sqlite_begin(sr) || sqlite_fail(sr, news);
}

static struct source *sqlite_rows_open(const char *place, struct source_news *news)
{
    struct sqlite_rows *sr = calloc(1, sizeof *sr);
    char unused[2];

    if (!sr) {
        (void)source_fail(news, "out of memory");
        return NULL;
    }
    sr->rows.ops = &sqlite_rows_ops;
    sr->path = rows_place(place, "gearman_queue", sr->rows.table, news);
    if (!sr->path ||
        (rows_stamp_file(sr->path, unused, sizeof unused) && !sqlite_open_database(sr, news))) {
        sqlite_rows_close(&sr->rows);
        return NULL;
    }
    return rows_source(&sr->rows, news);
}

const struct source_kind gearmand_sqlite_source = {"gearmand-sqlite", sqlite_rows_open};
