/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_DB_H
#define TANDEM_JOURNAL_PG_DB_H

// A connection to a database by libpq. It is made when there is a question, and dropped when it is
// of no more use. No call waits longer than its patience, except for name resolution.
//
// One thread at a time uses it. Any thread may call db_stop(), which ends all waiting. libpq raises
// no SIGPIPE (it sends with MSG_NOSIGNAL, or blocks the signal meanwhile for TLS).
//
// No text in `why` contains a password: libpq's message about a connection string may quote the
// string and is not passed on; its messages about a connection name hosts, users and databases.

#include "core/base/macros.h"
#include "journal/pg/journal_rows.h"
#include "journal/pg/statements.h"

#include <libpq-fe.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// The parameters of a statement in wire format: bytea and text as they are, bigint with its highest
// byte first, boolean as one byte.
#define ARGS_MAX 12
struct pg_args {
    int count;
    const char *values[ARGS_MAX];
    int lengths[ARGS_MAX];
    int formats[ARGS_MAX];
    char numbers[ARGS_MAX][sizeof(int64_t)];
};

// Texts and bytes are borrowed. A number becomes a bigint, which is signed: its highest bit must be
// 0.
void pg_args_number(struct pg_args *args, uint64_t number);
void pg_args_text(struct pg_args *args, const char *text);
void pg_args_bytes(struct pg_args *args, const char *bytes, size_t len);

// The fields of a result in the same format. NULL and fields of another size: 0.
int64_t pg_field_number(const PGresult *result, int row, int column);
bool pg_field_bool(const PGresult *result, int row, int column);
// Cut to `size`.
void pg_field_text(const PGresult *result, int row, int column, char *text, size_t size);

struct db {
    PGconn *conn;                // NULL: none
    PQconninfoOption *options;   // given by the user; NULL: the connection string is invalid
    unsigned hosts, host;        // how many, and which of them is tried first
    nsec_t patience_for;         //
    nsec_t give_up_at;           // monotonic: when the current call gives up
    bool warned;                 // a commit may be known to that server only
    bool woken;                  // a notification has come
    bool deaf;                   // the server does not support LISTEN
    bool listens;                //
    bool prepared[STATEMENTS];   //
    bool bare;                   // the schema may be missing, or of another version
    bool own_session;            // there is a pooler, but it was found to keep sessions
    bool unknown;                // the last error was an unknown table or schema
    uint64_t count;              // of connections so far
    int stop_fd;                 // an eventfd; -1: none
    atomic_bool stopped;         //
    char channel[ROWS_NAME_MAX]; // for LISTEN
    char why[ROWS_WHY_MAX];
};

// Whether the outcome of a statement matters if no answer comes.
enum db_kind { DB_LOOKS, DB_CHANGES };

// False without memory or descriptors; db_close() is allowed then. If the connection string is
// invalid, each call reports it.
bool db_init(struct db *db, const char *conninfo, nsec_t patience_for) MUST_USE;
void db_close(struct db *db);

// Begins a call: its time starts to run.
void db_begin(struct db *db);
// The time starts again: there was an answer.
void db_go_on(struct db *db);
// Connects if there is no connection. ROWS_DONE, _AWAY, _REFUSED, _STOPPED.
enum rows_outcome db_ready(struct db *db);
void db_drop(struct db *db);

// The following need a connection and make none: without one the outcome is ROWS_AWAY.

// Executes a statement, which is prepared at its first use. After ROWS_DONE the caller owns
// `*result`; otherwise it is NULL. With DB_LOOKS never ROWS_DOUBT.
enum rows_outcome db_run(struct db *db, enum statement statement, const struct pg_args *args,
                         enum db_kind kind, PGresult **result);
// The same for a text without parameters; fields are texts.
enum rows_outcome db_ask(struct db *db, const char *question, enum db_kind kind, PGresult **result);
enum rows_outcome db_say(struct db *db, const char *command, enum db_kind kind);
// Passes each row to `row` as it arrives. When that returns false, drops the rest.
enum rows_outcome db_stream(struct db *db, const char *question, const struct pg_args *args,
                            bool (*row)(void *context, const PGresult *result), void *context);

// Sleeps until a notification comes, or for that long.
enum rows_outcome db_listen(struct db *db, nsec_t for_at_most);

// Drops the connection, and sleeps until then or until db_stop().
void db_rest(struct db *db, nsec_t until_at);

void db_stop(struct db *db);
void db_resume(struct db *db);

// Sets `why`, and returns `outcome`.
enum rows_outcome db_fail(struct db *db, enum rows_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

//
// For db_connect.c
//

enum db_event { DB_EVENT, DB_LATE, DB_STOPPED };
// Waits for the connection's socket. `until_at`: monotonic.
enum db_event db_poll(struct db *db, short events, nsec_t until_at);
nsec_t db_now(void);

#endif
