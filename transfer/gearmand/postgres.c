/* SPDX-License-Identifier: MIT */
// gearmand-postgres:CONNINFO, the table that `gearmand -q Postgres --libpq-conninfo CONNINFO`
// writes. A call may wait for the server, for one row at most.

#include "transfer/gearmand/gearmand.h"

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
    PGresult *row; // the row that was yielded last, or NULL
    char *select;  // owned
    bool asked;    // `select` was sent, and its result is not complete
    uint64_t number;
};

static struct postgres_rows *postgres_rows_of(struct rows *rows)
{
    return container_of(rows, struct postgres_rows, rows);
}

static bool postgres_fail(const struct postgres_rows *pr, struct source_news *news)
{
    const char *why = PQerrorMessage(pr->conn);

    (void)source_fail(news, "PostgreSQL: %.*s", (int)strcspn(why, "\n"), why);
    return false;
}

static void postgres_clear_row(struct postgres_rows *pr)
{
    PQclear(pr->row);
    pr->row = NULL;
}

// In single-row mode: libpq would otherwise collect all rows in memory.
static bool postgres_send_select(struct postgres_rows *pr)
{
    pr->number = 0;
    pr->asked = PQsendQueryParams(pr->conn, pr->select, 0, NULL, NULL, NULL, NULL, 1) &&
                PQsetSingleRowMode(pr->conn);
    return pr->asked;
}

static void postgres_discard_rows(struct postgres_rows *pr)
{
    PGresult *result;

    postgres_clear_row(pr);
    while (pr->asked && (result = PQgetResult(pr->conn))) {
        PQclear(result);
    }
    pr->asked = false;
}

static struct slice postgres_bytes(const PGresult *result, int column)
{
    int len = PQgetlength(result, 0, column);

    return len > 0 ? slice_of(PQgetvalue(result, 0, column), (size_t)len) : SLICE("");
}

// A big-endian integer of four bytes; false for NULL and other types.
static bool postgres_number(const PGresult *result, int column, int64_t *number)
{
    struct slice bytes = postgres_bytes(result, column);
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

static enum source_answer postgres_take_row(struct postgres_rows *pr, struct row *row,
                                            struct source_news *news)
{
    *row = (struct row){
        .unique = postgres_bytes(pr->row, COLUMN_UNIQUE),
        .function = postgres_bytes(pr->row, COLUMN_FUNCTION),
        .data = postgres_bytes(pr->row, COLUMN_DATA),
        .number = ++pr->number,
    };
    (void)postgres_number(pr->row, COLUMN_WHEN, &row->when_to_run);
    return postgres_number(pr->row, COLUMN_PRIORITY, &row->priority)
               ? SOURCE_JOB
               : source_damage(news, pr->rows.table, row->number, "the priority is not a number");
}

static enum source_answer postgres_rows_read(struct rows *rows, struct row *row,
                                             struct source_news *news)
{
    struct postgres_rows *pr = postgres_rows_of(rows);
    ExecStatusType status;

    postgres_clear_row(pr);
    pr->row = pr->asked ? PQgetResult(pr->conn) : NULL;
    if (!pr->row) {
        pr->asked = false;
        return SOURCE_END;
    }
    status = PQresultStatus(pr->row);
    if (status == PGRES_SINGLE_TUPLE) {
        return postgres_take_row(pr, row, news);
    }
    if (status == PGRES_TUPLES_OK) {
        postgres_discard_rows(pr);
        return SOURCE_END;
    }
    (void)postgres_fail(pr, news);
    return SOURCE_FAILED;
}

static bool postgres_rows_rewind(struct rows *rows, struct source_news *news)
{
    struct postgres_rows *pr = postgres_rows_of(rows);

    postgres_discard_rows(pr);
    return postgres_send_select(pr) || postgres_fail(pr, news);
}

static void postgres_rows_close(struct rows *rows)
{
    struct postgres_rows *pr = postgres_rows_of(rows);

    postgres_discard_rows(pr);
    PQfinish(pr->conn);
    free(pr->select);
    free(pr);
}

static const struct rows_ops postgres_rows_ops = {
    .read = postgres_rows_read,
    .rewind = postgres_rows_rewind,
    .close = postgres_rows_close,
};

//
// Open
//

static bool postgres_run(struct postgres_rows *pr, const char *command)
{
    PGresult *result = PQexec(pr->conn, command);
    ExecStatusType status = PQresultStatus(result);

    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

// Whether the query, whose parameter is the name of the table, returns any row.
static bool postgres_has_rows(struct postgres_rows *pr, const char *query)
{
    const char *const table[] = {pr->rows.table};
    PGresult *result = PQexecParams(pr->conn, query, 1, NULL, table, NULL, NULL, 0);
    bool found = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0;

    PQclear(result);
    return found;
}

// Selects the rows of one snapshot, in physical order, as gearmand reads them, and without
// conversion of characters. The lock keeps writers out until the end.
static bool postgres_begin(struct postgres_rows *pr)
{
    char *table = PQescapeIdentifier(pr->conn, pr->rows.table, strlen(pr->rows.table));
    size_t size = 256;
    bool good;

    if (!table) {
        return false;
    }
    size += strlen(table);
    pr->select = malloc(size);
    good = pr->select && postgres_run(pr, "SET client_encoding TO SQL_ASCII") &&
           postgres_run(pr, "SET synchronize_seqscans TO off") &&
           postgres_run(pr, "SET lock_timeout TO '10s'") &&
           postgres_run(pr, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    if (good) {
        (void)snprintf(pr->select, size, "LOCK TABLE %s IN SHARE MODE", table);
        good = postgres_run(pr, pr->select);
    }
    if (good) {
        bool has = postgres_has_rows(pr, "SELECT 1 FROM pg_attribute WHERE attrelid = "
                                         "quote_ident($1)::regclass AND attname = 'when_to_run' "
                                         "AND NOT attisdropped");

        (void)snprintf(pr->select, size,
                       "SELECT unique_key, function_name, priority, data, %s FROM %s",
                       has ? "when_to_run" : "0", table);
        good = postgres_send_select(pr);
    }
    PQfreemem(table);
    return good;
}

// Whether the last query of another session read the table. PostgreSQL shows it only to the same
// user and to roles that may read all statistics.
static bool postgres_is_in_use(struct postgres_rows *pr)
{
    return postgres_has_rows(
        pr, "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND "
            "pid <> pg_backend_pid() AND strpos(query, $1::text) > 0 "
            "AND strpos(query, 'function_name') > 0");
}

static struct source *postgres_rows_open(const char *place, struct source_news *news)
{
    struct postgres_rows *pr = calloc(1, sizeof *pr);
    char *conninfo;

    if (!pr) {
        (void)source_fail(news, "out of memory");
        return NULL;
    }
    pr->rows.ops = &postgres_rows_ops;
    conninfo = rows_place(place, "queue", pr->rows.table, news);
    if (!conninfo) {
        postgres_rows_close(&pr->rows);
        return NULL;
    }
    pr->conn = PQconnectdb(conninfo);
    free(conninfo);
    if (PQstatus(pr->conn) == CONNECTION_OK && postgres_is_in_use(pr)) {
        (void)source_fail(news, "table %s is in use: stop gearmand first", pr->rows.table);
    } else if (PQstatus(pr->conn) == CONNECTION_OK && postgres_begin(pr)) {
        return rows_source(&pr->rows, news);
    } else {
        (void)postgres_fail(pr, news);
    }
    postgres_rows_close(&pr->rows);
    return NULL;
}

const struct source_kind gearmand_postgres_source = {"gearmand-postgres", postgres_rows_open};
