/* SPDX-License-Identifier: MIT */
#include "journal/pg/db.h"

#include "journal/pg/verdict.h"

#include <poll.h>
#include <string.h>

// What a call that got no answer comes to.
static enum rows_outcome unanswered(enum db_kind kind)
{
    return kind == DB_CHANGES ? ROWS_DOUBT : ROWS_AWAY;
}

static enum rows_outcome lose(struct db *db, enum db_kind kind)
{
    (void)db_fail(db, ROWS_AWAY, "%s", PQerrorMessage(db->conn));
    db_drop(db);
    return unanswered(kind);
}

// Until the socket is ready. The connection is dropped where it is not: an answer that comes after
// all would be taken for that to the next question.
static enum rows_outcome wait_for(struct db *db, short events, enum db_kind kind)
{
    switch (db_poll(db, events, db->give_up_at)) {
    case DB_EVENT:
        return ROWS_DONE;
    case DB_LATE:
        db_drop(db);
        return db_fail(db, unanswered(kind), "the database has not answered in time");
    case DB_STOPPED:
        break;
    }
    db_drop(db);
    return db_fail(db, ROWS_STOPPED, "stopped");
}

// The server may have to be read while it is written to: it sends notices, and does not wait for us
// to take them.
static enum rows_outcome flush(struct db *db, enum db_kind kind)
{
    for (;;) {
        int left = PQflush(db->conn);
        enum rows_outcome outcome;

        if (left == 0) {
            return ROWS_DONE;
        }
        if (left < 0) {
            return lose(db, kind);
        }
        outcome = wait_for(db, POLLIN | POLLOUT, kind);
        if (outcome != ROWS_DONE) {
            return outcome;
        }
        if (!PQconsumeInput(db->conn)) {
            return lose(db, kind);
        }
    }
}

// The next result; NULL: there is none left.
static enum rows_outcome next(struct db *db, enum db_kind kind, PGresult **result)
{
    while (PQisBusy(db->conn)) {
        enum rows_outcome outcome = wait_for(db, POLLIN, kind);

        if (outcome != ROWS_DONE) {
            return outcome;
        }
        if (!PQconsumeInput(db->conn)) {
            return lose(db, kind);
        }
    }
    *result = PQgetResult(db->conn);
    return ROWS_DONE;
}

static enum rows_outcome judge(struct db *db, const PGresult *result, enum db_kind kind)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *what = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    struct verdict verdict =
        verdict_of_error(PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED), state);

    if (verdict.outcome == ROWS_DOUBT && verdict.leave) {
        verdict.outcome = unanswered(kind);
    }
    if (state && what) {
        (void)db_fail(db, verdict.outcome, "%s (SQLSTATE %s)", what, state);
    } else {
        (void)db_fail(db, verdict.outcome, "%s", PQerrorMessage(db->conn));
    }
    // No such table, or schema.
    db->unknown = state && (strcmp(state, "42P01") == 0 || strcmp(state, "3F000") == 0);
    if (verdict.leave) {
        db_drop(db);
    }
    return verdict.outcome;
}

static bool is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);

    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_SINGLE_TUPLE;
}

// Takes what is answered. Of several results the last counts, or the first that is an error: none
// comes behind it.
static enum rows_outcome collect(struct db *db, enum db_kind kind, PGresult **last)
{
    enum rows_outcome outcome = flush(db, kind);
    PGresult *result = NULL;

    while (outcome == ROWS_DONE && (outcome = next(db, kind, &result)) == ROWS_DONE && result) {
        PQclear(*last);
        *last = result;
    }
    if (outcome == ROWS_DONE) {
        outcome = is_good(*last) ? ROWS_DONE : judge(db, *last, kind);
    }
    if (outcome == ROWS_DONE && db->warned && kind == DB_CHANGES) {
        outcome = ROWS_DOUBT;
    }
    if (outcome != ROWS_DONE) {
        PQclear(*last);
        *last = NULL;
    }
    return outcome;
}

//
// Statements
//

// Whether there is a connection. None is made here: a statement may be one of a transaction that
// has begun in the connection before.
static bool is_there(struct db *db)
{
    if (db->conn && PQstatus(db->conn) == CONNECTION_OK) {
        return true;
    }
    (void)db_fail(db, ROWS_AWAY, "the connection is lost");
    db_drop(db);
    return false;
}

enum rows_outcome db_ask(struct db *db, const char *question, enum db_kind kind, PGresult **result)
{
    *result = NULL;
    if (!is_there(db)) {
        return ROWS_AWAY;
    }
    // Where it cannot be sent, nothing has left.
    return PQsendQuery(db->conn, question) ? collect(db, kind, result) : lose(db, DB_LOOKS);
}

enum rows_outcome db_say(struct db *db, const char *command, enum db_kind kind)
{
    PGresult *result;
    enum rows_outcome outcome = db_ask(db, command, kind, &result);

    PQclear(result);
    return outcome;
}

static enum rows_outcome prepare(struct db *db, enum statement statement)
{
    PGresult *result = NULL;
    enum rows_outcome outcome = ROWS_DONE;

    if (db->prepared[statement]) {
        return ROWS_DONE;
    }
    outcome = PQsendPrepare(db->conn, statement_name(statement), statement_text(statement), 0, NULL)
                  ? collect(db, DB_LOOKS, &result)
                  : lose(db, DB_LOOKS);
    PQclear(result);
    db->prepared[statement] = outcome == ROWS_DONE;
    return outcome;
}

enum rows_outcome db_run(struct db *db, enum statement statement, const struct args *args,
                         enum db_kind kind, PGresult **result)
{
    enum rows_outcome outcome = is_there(db) ? prepare(db, statement) : ROWS_AWAY;

    *result = NULL;
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    if (!PQsendQueryPrepared(db->conn, statement_name(statement), args->count, args->values,
                             args->lengths, args->formats, 1)) {
        return lose(db, DB_LOOKS);
    }
    return collect(db, kind, result);
}

//
// Rows as they come
//

// So much of an answer is read in order to drop it. Where there is more, the connection is dropped.
#define DROP_MOST ((size_t)4 * 1024 * 1024)

static enum rows_outcome drop_rest(struct db *db)
{
    enum rows_outcome outcome = ROWS_DONE;
    PGresult *result = NULL;
    size_t dropped = 0;

    while ((outcome = next(db, DB_LOOKS, &result)) == ROWS_DONE && result) {
        if (PQntuples(result) == 1) {
            dropped += (size_t)PQgetlength(result, 0, PQnfields(result) - 1);
        }
        PQclear(result);
        if (dropped > DROP_MOST) {
            db_drop(db);
            return ROWS_DONE;
        }
    }
    return outcome;
}

enum rows_outcome db_stream(struct db *db, const char *question, const struct args *args,
                            bool (*row)(void *context, const PGresult *result), void *context)
{
    enum rows_outcome outcome = ROWS_AWAY;
    PGresult *result = NULL;
    bool more = true;

    if (!is_there(db)) {
        return outcome;
    }
    if (!PQsendQueryParams(db->conn, question, args->count, NULL, args->values, args->lengths,
                           args->formats, 1) ||
        !PQsetSingleRowMode(db->conn)) {
        return lose(db, DB_LOOKS);
    }
    outcome = flush(db, DB_LOOKS);
    while (more && outcome == ROWS_DONE && (outcome = next(db, DB_LOOKS, &result)) == ROWS_DONE &&
           result) {
        if (PQresultStatus(result) == PGRES_SINGLE_TUPLE) {
            more = row(context, result);
            db_go_on(db);
        } else if (!is_good(result)) {
            outcome = judge(db, result, DB_LOOKS);
            db_drop(db); // rather than read what else there is
        }
        PQclear(result);
    }
    return more || outcome != ROWS_DONE ? outcome : drop_rest(db);
}
