/* SPDX-License-Identifier: MIT */
#include "journal/pg/db.h"

#include "core/base/macros.h"
#include "journal/pg/sqlstate.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

//
// Parameters and fields
//

static void pg_args_add(struct pg_args *args, const char *value, size_t len)
{
    ENSURE(args->count < ARGS_MAX);
    args->values[args->count] = value;
    args->lengths[args->count] = (int)len;
    args->formats[args->count] = 1;
    args->count++;
}

void pg_args_number(struct pg_args *args, uint64_t number)
{
    char *bytes = args->numbers[args->count];

    for (size_t i = 0; i < sizeof number; i++) {
        bytes[i] = (char)(number >> (8 * (sizeof number - 1 - i)));
    }
    pg_args_add(args, bytes, sizeof number);
}

void pg_args_text(struct pg_args *args, const char *text)
{
    pg_args_add(args, text, strlen(text));
}

void pg_args_bytes(struct pg_args *args, const char *bytes, size_t len)
{
    pg_args_add(args, bytes, len);
}

int64_t pg_field_number(const PGresult *result, int row, int column)
{
    const char *bytes = PQgetvalue(result, row, column);
    uint64_t number = 0;

    if (PQgetlength(result, row, column) != (int)sizeof number) {
        return 0;
    }
    for (size_t i = 0; i < sizeof number; i++) {
        number = number << 8 | (unsigned char)bytes[i];
    }
    return (int64_t)number;
}

bool pg_field_bool(const PGresult *result, int row, int column)
{
    return PQgetlength(result, row, column) == 1 && PQgetvalue(result, row, column)[0] != 0;
}

void pg_field_text(const PGresult *result, int row, int column, char *text, size_t size)
{
    (void)snprintf(text, size, "%.*s", PQgetlength(result, row, column),
                   PQgetvalue(result, row, column));
}

//
// The connection
//

nsec_t db_now(void)
{
    struct timespec now;

    ENSURE(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return nsec_from_seconds((uint64_t)now.tv_sec) + now.tv_nsec;
}

// One line is enough, and control characters must not reach a log.
enum rows_outcome db_fail(struct db *db, enum rows_outcome outcome, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(db->why, sizeof db->why, format, args);
    va_end(args);
    db->why[strcspn(db->why, "\r\n")] = '\0';
    return outcome;
}

//
// Opening and closing
//

// The longest of the lists gives the number of servers.
static unsigned db_count_hosts(const PQconninfoOption *option)
{
    unsigned most = 1;

    for (; option && option->keyword; option++) {
        if (option->val &&
            (strcmp(option->keyword, "host") == 0 || strcmp(option->keyword, "hostaddr") == 0)) {
            unsigned count = 1;

            for (const char *at = option->val; (at = strchr(at, ',')); at++) {
                count++;
            }
            most = count > most ? count : most;
        }
    }
    return most;
}

bool db_init(struct db *db, const char *conninfo, nsec_t patience_for)
{
    char *why = NULL;

    *db = (struct db){.patience_for = patience_for, .stop_fd = -1};
    db->options = PQconninfoParse(conninfo, &why);
    PQfreemem(why);
    db->hosts = db_count_hosts(db->options);
    db->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return db->stop_fd >= 0;
}

void db_close(struct db *db)
{
    db_drop(db);
    PQconninfoFree(db->options);
    if (db->stop_fd >= 0) {
        (void)close(db->stop_fd);
    }
}

void db_drop(struct db *db)
{
    PQfinish(db->conn);
    db->conn = NULL;
    db->listens = false;
    memset(db->prepared, 0, sizeof db->prepared);
}

//
// Waiting
//

void db_go_on(struct db *db)
{
    db->give_up_at = nsec_add(db_now(), db->patience_for);
}

static bool db_hear(struct db *db)
{
    PGnotify *notify;

    while ((notify = PQnotifies(db->conn))) {
        db->woken = true;
        PQfreemem(notify);
    }
    return db->woken;
}

void db_begin(struct db *db)
{
    db_go_on(db);
    db->warned = false;
    // An owner that was a standby before receives its own notifications.
    if (db->conn) {
        (void)db_hear(db);
    }
}

void db_stop(struct db *db)
{
    atomic_store(&db->stopped, true);
    (void)eventfd_write(db->stop_fd, 1);
}

void db_resume(struct db *db)
{
    eventfd_t count;

    atomic_store(&db->stopped, false);
    (void)eventfd_read(db->stop_fd, &count);
}

// Rounded up, so that the last millisecond is not spent in a loop.
static int db_left_ms(nsec_t until_at)
{
    nsec_t left_for = until_at - db_now();
    nsec_t most_for = nsec_from_seconds(60);

    if (left_for <= 0) {
        return 0;
    }
    return (int)nsec_to_msec(left_for < most_for ? left_for : most_for);
}

enum db_event db_poll(struct db *db, short events, nsec_t until_at)
{
    while (!atomic_load(&db->stopped)) {
        struct pollfd fds[] = {{.fd = db->stop_fd, .events = POLLIN},
                               {.fd = PQsocket(db->conn), .events = events}};
        int count = poll(fds, 2, db_left_ms(until_at));

        if (count > 0 && fds[1].revents) {
            return DB_EVENT;
        }
        if (count == 0 && db_now() >= until_at) {
            return DB_LATE;
        }
        ENSURE(count >= 0 || errno == EINTR);
    }
    return DB_STOPPED;
}

//
// Answers
//

// The outcome of a call without an answer.
static enum rows_outcome db_unanswered(enum db_kind kind)
{
    return kind == DB_CHANGES ? ROWS_DOUBT : ROWS_AWAY;
}

static enum rows_outcome db_lose(struct db *db, enum db_kind kind)
{
    (void)db_fail(db, ROWS_AWAY, "%s", PQerrorMessage(db->conn));
    db_drop(db);
    return db_unanswered(kind);
}

// Waits until the socket is ready. Otherwise the connection is dropped: a late answer would be
// taken for that of the next question.
static enum rows_outcome db_wait(struct db *db, short events, enum db_kind kind)
{
    switch (db_poll(db, events, db->give_up_at)) {
    case DB_EVENT:
        return ROWS_DONE;
    case DB_LATE:
        db_drop(db);
        return db_fail(db, db_unanswered(kind), "the database did not answer in time");
    case DB_STOPPED:
        break;
    }
    db_drop(db);
    return db_fail(db, ROWS_STOPPED, "stopped");
}

// The server may have to be read while it is written to: it sends notices, and does not wait until
// they are taken.
static enum rows_outcome db_flush(struct db *db, enum db_kind kind)
{
    for (;;) {
        int left = PQflush(db->conn);
        enum rows_outcome outcome;

        if (left == 0) {
            return ROWS_DONE;
        }
        if (left < 0) {
            return db_lose(db, kind);
        }
        outcome = db_wait(db, POLLIN | POLLOUT, kind);
        if (outcome != ROWS_DONE) {
            return outcome;
        }
        if (!PQconsumeInput(db->conn)) {
            return db_lose(db, kind);
        }
    }
}

// The next result; NULL: no more.
static enum rows_outcome db_next(struct db *db, enum db_kind kind, PGresult **result)
{
    while (PQisBusy(db->conn)) {
        enum rows_outcome outcome = db_wait(db, POLLIN, kind);

        if (outcome != ROWS_DONE) {
            return outcome;
        }
        if (!PQconsumeInput(db->conn)) {
            return db_lose(db, kind);
        }
    }
    *result = PQgetResult(db->conn);
    return ROWS_DONE;
}

static enum rows_outcome db_judge(struct db *db, const PGresult *result, enum db_kind kind)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *what = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    struct sqlstate_meaning meaning =
        sqlstate_of_error(PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED), state);

    if (meaning.outcome == ROWS_DOUBT && meaning.leave) {
        meaning.outcome = db_unanswered(kind);
    }
    if (state && what) {
        (void)db_fail(db, meaning.outcome, "%s (SQLSTATE %s)", what, state);
    } else {
        (void)db_fail(db, meaning.outcome, "%s", PQerrorMessage(db->conn));
    }
    // Unknown table, or schema.
    db->unknown = state && (strcmp(state, "42P01") == 0 || strcmp(state, "3F000") == 0);
    if (meaning.leave) {
        db_drop(db);
    }
    return meaning.outcome;
}

static bool db_is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);

    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_SINGLE_TUPLE;
}

// Takes the answer. Of several results the last counts, or the first error, which is the last one
// anyway.
static enum rows_outcome db_collect(struct db *db, enum db_kind kind, PGresult **last)
{
    enum rows_outcome outcome = db_flush(db, kind);
    PGresult *result = NULL;

    while (outcome == ROWS_DONE && (outcome = db_next(db, kind, &result)) == ROWS_DONE && result) {
        PQclear(*last);
        *last = result;
    }
    if (outcome == ROWS_DONE) {
        outcome = db_is_good(*last) ? ROWS_DONE : db_judge(db, *last, kind);
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

// Whether there is a connection. None is made here: the statement may belong to a transaction of
// the last connection.
static bool db_is_connected(struct db *db)
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
    if (!db_is_connected(db)) {
        return ROWS_AWAY;
    }
    // If it cannot be sent, nothing was sent.
    return PQsendQuery(db->conn, question) ? db_collect(db, kind, result) : db_lose(db, DB_LOOKS);
}

enum rows_outcome db_say(struct db *db, const char *command, enum db_kind kind)
{
    PGresult *result;
    enum rows_outcome outcome = db_ask(db, command, kind, &result);

    PQclear(result);
    return outcome;
}

static enum rows_outcome db_prepare(struct db *db, enum statement statement)
{
    PGresult *result = NULL;
    enum rows_outcome outcome = ROWS_DONE;

    if (db->prepared[statement]) {
        return ROWS_DONE;
    }
    outcome = PQsendPrepare(db->conn, statement_name(statement), statement_text(statement), 0, NULL)
                  ? db_collect(db, DB_LOOKS, &result)
                  : db_lose(db, DB_LOOKS);
    PQclear(result);
    db->prepared[statement] = outcome == ROWS_DONE;
    return outcome;
}

enum rows_outcome db_run(struct db *db, enum statement statement, const struct pg_args *args,
                         enum db_kind kind, PGresult **result)
{
    enum rows_outcome outcome = db_is_connected(db) ? db_prepare(db, statement) : ROWS_AWAY;

    *result = NULL;
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    if (!PQsendQueryPrepared(db->conn, statement_name(statement), args->count, args->values,
                             args->lengths, args->formats, 1)) {
        return db_lose(db, DB_LOOKS);
    }
    return db_collect(db, kind, result);
}

//
// Streaming of rows
//

// Most bytes of an answer that are read only to drop them. If there are more, the connection is
// dropped.
#define DROP_MOST ((size_t)4 * 1024 * 1024)

static enum rows_outcome db_drop_rest(struct db *db)
{
    enum rows_outcome outcome = ROWS_DONE;
    PGresult *result = NULL;
    size_t dropped = 0;

    while ((outcome = db_next(db, DB_LOOKS, &result)) == ROWS_DONE && result) {
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

enum rows_outcome db_stream(struct db *db, const char *question, const struct pg_args *args,
                            bool (*row)(void *context, const PGresult *result), void *context)
{
    enum rows_outcome outcome = ROWS_AWAY;
    PGresult *result = NULL;
    bool more = true;

    if (!db_is_connected(db)) {
        return outcome;
    }
    if (!PQsendQueryParams(db->conn, question, args->count, NULL, args->values, args->lengths,
                           args->formats, 1) ||
        !PQsetSingleRowMode(db->conn)) {
        return db_lose(db, DB_LOOKS);
    }
    outcome = db_flush(db, DB_LOOKS);
    while (more && outcome == ROWS_DONE &&
           (outcome = db_next(db, DB_LOOKS, &result)) == ROWS_DONE && result) {
        if (PQresultStatus(result) == PGRES_SINGLE_TUPLE) {
            more = row(context, result);
            db_go_on(db);
        } else if (!db_is_good(result)) {
            outcome = db_judge(db, result, DB_LOOKS);
            db_drop(db); // instead of reading the rest
        }
        PQclear(result);
    }
    return more || outcome != ROWS_DONE ? outcome : db_drop_rest(db);
}

//
// Notifications
//

// A server without LISTEN (CockroachDB) is not asked again: standbys poll then.
static enum rows_outcome db_listen_once(struct db *db)
{
    char command[ROWS_NAME_MAX + 16];
    enum rows_outcome outcome;

    if (db->listens || db->deaf || !db->channel[0]) {
        return ROWS_DONE;
    }
    (void)snprintf(command, sizeof command, "LISTEN %s", db->channel);
    outcome = db_say(db, command, DB_LOOKS);
    db->listens = outcome == ROWS_DONE;
    db->deaf = outcome == ROWS_REFUSED;
    return db->deaf ? ROWS_DONE : outcome;
}

void db_rest(struct db *db, nsec_t until_at)
{
    db_drop(db);
    (void)db_poll(db, 0, until_at);
}

enum rows_outcome db_listen(struct db *db, nsec_t for_at_most)
{
    nsec_t until_at = nsec_add(db_now(), for_at_most > 0 ? for_at_most : 0);
    enum rows_outcome outcome = db_listen_once(db);

    if (outcome != ROWS_DONE) {
        return outcome;
    }
    while (!db_hear(db)) {
        enum db_event event = db_poll(db, POLLIN, until_at);

        if (event == DB_STOPPED) {
            return db_fail(db, ROWS_STOPPED, "stopped");
        }
        if (event == DB_LATE) {
            return ROWS_DONE;
        }
        if (!PQconsumeInput(db->conn)) {
            (void)db_fail(db, ROWS_AWAY, "%s", PQerrorMessage(db->conn));
            db_drop(db);
            return ROWS_AWAY;
        }
    }
    db->woken = false;
    return ROWS_DONE;
}
