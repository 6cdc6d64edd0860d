/* SPDX-License-Identifier: MIT */
#include "transfer/gearmand/postgres.h"

#include "core/base/macros.h"

#include "transfer/gearmand/rows.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_UNIQUE, COLUMN_FUNCTION, COLUMN_PRIORITY, COLUMN_DATA, COLUMN_WHEN };

struct postgres_rows {
    struct rows rows;
    PGconn *conn;
    PGresult *row; // the last one that was given; NULL: none
    char *select;  // owned
    bool asked;    // `select` was sent, and not all of it has come
    uint64_t number;
};

static struct postgres_rows *of(struct rows *rows)
{
    return container_of(rows, struct postgres_rows, rows);
}

static bool fail(const struct postgres_rows *pr, struct source_news *news)
{
    const char *why = PQerrorMessage(pr->conn);

    (void)source_fail(news, "PostgreSQL: %.*s", (int)strcspn(why, "\n"), why);
    return false;
}

static void forget_row(struct postgres_rows *pr)
{
    PQclear(pr->row);
    pr->row = NULL;
}

// One row after the other, each as it comes.
static bool send_select(struct postgres_rows *pr)
{
    pr->number = 0;
    pr->asked = PQsendQueryParams(pr->conn, pr->select, 0, NULL, NULL, NULL, NULL, 1) &&
                PQsetSingleRowMode(pr->conn);
    return pr->asked;
}

static void drop_rest(struct postgres_rows *pr)
{
    PGresult *result;

    forget_row(pr);
    while (pr->asked && (result = PQgetResult(pr->conn))) {
        PQclear(result);
    }
    pr->asked = false;
}

static struct slice bytes_of(const PGresult *result, int column)
{
    int len = PQgetlength(result, 0, column);

    return len > 0 ? slice_of(PQgetvalue(result, 0, column), (size_t)len) : SLICE("");
}

// An integer of four bytes, the highest first; false for NULL and all else.
static bool number_of(const PGresult *result, int column, int64_t *number)
{
    struct slice bytes = bytes_of(result, column);
    uint32_t bits = 0;

    if (bytes.len != sizeof bits) {
        return false;
    }
    for (size_t i = 0; i < sizeof bits; i++) {
        bits = bits << 8 | (unsigned char)bytes.ptr[i];
    }
    *number = (int32_t)bits;
    return true;
}

static enum source_answer take_row(struct postgres_rows *pr, struct row *row,
                                   struct source_news *news)
{
    *row = (struct row){
        .unique = bytes_of(pr->row, COLUMN_UNIQUE),
        .function = bytes_of(pr->row, COLUMN_FUNCTION),
        .data = bytes_of(pr->row, COLUMN_DATA),
        .number = ++pr->number,
    };
    (void)number_of(pr->row, COLUMN_WHEN, &row->when_to_run);
    return number_of(pr->row, COLUMN_PRIORITY, &row->priority)
               ? SOURCE_JOB
               : source_damage(news, pr->rows.table, row->number, "the priority is no number");
}

static enum source_answer read_row(struct rows *rows, struct row *row, struct source_news *news)
{
    struct postgres_rows *pr = of(rows);
    ExecStatusType status;

    forget_row(pr);
    pr->row = pr->asked ? PQgetResult(pr->conn) : NULL;
    if (!pr->row) {
        pr->asked = false;
        return SOURCE_END;
    }
    status = PQresultStatus(pr->row);
    if (status == PGRES_SINGLE_TUPLE) {
        return take_row(pr, row, news);
    }
    if (status == PGRES_TUPLES_OK) {
        drop_rest(pr);
        return SOURCE_END;
    }
    (void)fail(pr, news);
    return SOURCE_FAILED;
}

static bool rewind_rows(struct rows *rows, struct source_news *news)
{
    struct postgres_rows *pr = of(rows);

    drop_rest(pr);
    return send_select(pr) || fail(pr, news);
}

static void close_rows(struct rows *rows)
{
    struct postgres_rows *pr = of(rows);

    drop_rest(pr);
    PQfinish(pr->conn);
    free(pr->select);
    free(pr);
}

static const struct rows_ops ops = {
    .read = read_row,
    .rewind = rewind_rows,
    .close = close_rows,
};

//
// Beginning
//

static bool says(struct postgres_rows *pr, const char *command)
{
    PGresult *result = PQexec(pr->conn, command);
    ExecStatusType status = PQresultStatus(result);

    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

// Whether the question has an answer that is not empty; the table is its parameter.
static bool finds(struct postgres_rows *pr, const char *question)
{
    const char *const table[] = {pr->rows.table};
    PGresult *result = PQexecParams(pr->conn, question, 1, NULL, table, NULL, NULL, 0);
    bool found = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0;

    PQclear(result);
    return found;
}

// The rows in the order in which they lie, as gearmand reads them too, of one moment; bytes are not
// converted. Nobody writes meanwhile.
static bool begin(struct postgres_rows *pr)
{
    char *table = PQescapeIdentifier(pr->conn, pr->rows.table, strlen(pr->rows.table));
    size_t size = 256;
    bool good;

    if (!table) {
        return false;
    }
    size += strlen(table);
    pr->select = malloc(size);
    good = pr->select && says(pr, "SET client_encoding TO SQL_ASCII") &&
           says(pr, "SET synchronize_seqscans TO off") && says(pr, "SET lock_timeout TO '10s'") &&
           says(pr, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    if (good) {
        (void)snprintf(pr->select, size, "LOCK TABLE %s IN SHARE MODE", table);
        good = says(pr, pr->select);
    }
    if (good) {
        bool has = finds(pr, "SELECT 1 FROM pg_attribute WHERE attrelid = "
                             "quote_ident($1)::regclass AND attname = 'when_to_run' "
                             "AND NOT attisdropped");

        (void)snprintf(pr->select, size,
                       "SELECT unique_key, function_name, priority, data, %s FROM %s",
                       has ? "when_to_run" : "0", table);
        good = send_select(pr);
    }
    PQfreemem(table);
    return good;
}

// What another session has asked last is shown to its own user, and to those who may see all.
static bool is_used(struct postgres_rows *pr)
{
    return finds(pr, "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND "
                     "pid <> pg_backend_pid() AND strpos(query, $1::text) > 0 "
                     "AND strpos(query, 'function_name') > 0");
}

struct source *gearmand_postgres_open(const char *place, struct source_news *news)
{
    struct postgres_rows *pr = calloc(1, sizeof *pr);
    char *conninfo;

    if (!pr) {
        (void)source_fail(news, "out of memory");
        return NULL;
    }
    pr->rows.ops = &ops;
    conninfo = rows_place(place, "queue", pr->rows.table, news);
    if (!conninfo) {
        close_rows(&pr->rows);
        return NULL;
    }
    pr->conn = PQconnectdb(conninfo);
    free(conninfo);
    if (PQstatus(pr->conn) == CONNECTION_OK && is_used(pr)) {
        (void)source_fail(news, "a process uses table %s: stop gearmand first", pr->rows.table);
    } else if (PQstatus(pr->conn) == CONNECTION_OK && begin(pr)) {
        return rows_source(&pr->rows, news);
    } else {
        (void)fail(pr, news);
    }
    close_rows(&pr->rows);
    return NULL;
}
