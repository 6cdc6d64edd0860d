/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_DB_H
#define TANDEM_JOURNAL_PG_DB_H

// A connection to a database, by libpq. It is made when there is something to ask, and dropped when
// it is of no use any more. Nothing is waited for longer than its patience, but for the resolver.
//
// One thread at a time uses it; db_stop() may be called by any, and ends what is waited for. libpq
// raises no SIGPIPE (it sends with MSG_NOSIGNAL, or blocks the signal meanwhile, for TLS).
//
// Passwords are in no text of `why`: what libpq says of a connection string may quote it, and is
// not told; what it says of a connection names hosts, users and databases.

#include "core/base/macros.h"
#include "journal/pg/args.h"
#include "journal/pg/rows.h"
#include "journal/pg/statements.h"

#include <libpq-fe.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define DB_HOSTS_MAX 16

struct db {
    PGconn *conn;                // NULL: none
    PQconninfoOption *options;   // as the user gave them; NULL: they cannot be read
    unsigned hosts, host;        // how many, and which of them is asked first
    nsec_t patience_for;         //
    nsec_t give_up_at;           // monotonic: when the present call gives up
    bool warned;                 // a commit may be known to that server only
    bool woken;                  // a notification has come
    bool deaf;                   // the server knows no LISTEN
    bool listens;                //
    bool prepared[STATEMENTS];   //
    bool bare;                   // the schema is not there yet, or may be another
    bool own_session;            // a pooler is between that was found to keep sessions
    bool unknown;                // the last error was: no such table, or schema
    uint64_t count;              // of connections so far
    int stop_fd;                 // an eventfd; -1: there is none
    atomic_bool stopped;         //
    char channel[ROWS_NAME_MAX]; // what is listened to
    char why[ROWS_WHY_MAX];
};

// Whether the statement changes something that must not get lost.
enum db_kind { DB_LOOKS, DB_CHANGES };

// False without memory or descriptors; db_close() is allowed then. A connection string that cannot
// be read is told by every call.
bool db_init(struct db *db, const char *conninfo, nsec_t patience_for) MUST_USE;
void db_close(struct db *db);

// Begins a call: from now on its time runs.
void db_begin(struct db *db);
// Time begins to run anew: something has come.
void db_go_on(struct db *db);
// Connects where there is no connection. ROWS_DONE, _AWAY, _REFUSED, _STOPPED.
enum rows_outcome db_ready(struct db *db);
void db_drop(struct db *db);
// Whether a notification has come since the last db_listen(). libpq keeps each until it is taken.
bool db_hear(struct db *db);

// All below need a connection, and make none: without one it is ROWS_AWAY.

// Carries out a statement, prepared at its first use. `*result` is NULL but for ROWS_DONE, and is
// the caller's then. DB_LOOKS: never ROWS_DOUBT.
enum rows_outcome db_run(struct db *db, enum statement statement, const struct args *args,
                         enum db_kind kind, PGresult **result);
// The same for a text without parameters; fields come as texts.
enum rows_outcome db_ask(struct db *db, const char *question, enum db_kind kind, PGresult **result);
enum rows_outcome db_say(struct db *db, const char *command, enum db_kind kind);
// Asks, and hands each row over as it comes. Where `row` returns false, the rest is dropped.
enum rows_outcome db_stream(struct db *db, const char *question, const struct args *args,
                            bool (*row)(void *context, const PGresult *result), void *context);

// Sleeps until a notification comes, or so long.
enum rows_outcome db_listen(struct db *db, nsec_t for_at_most);

// Sleeps until then, or until it is stopped; without a connection.
void db_rest(struct db *db, nsec_t until_at);

void db_stop(struct db *db);
void db_resume(struct db *db);

enum rows_outcome db_fail(struct db *db, enum rows_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

//
// For the parts of it
//

enum db_event { DB_EVENT, DB_LATE, DB_STOPPED };
// Waits for the connection's socket. `until_at`: monotonic.
enum db_event db_poll(struct db *db, short events, nsec_t until_at);
nsec_t db_now(void);

#endif
