/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_PG_PG_BED_H
#define TANDEM_TESTS_JOURNAL_PG_PG_BED_H

// Rows in a real PostgreSQL, whose connection string is in the environment as POSTGRES. Each bed
// has them for itself. They are changed by a role that may do no more than init-store says that it
// must; `admin` may do everything.

#include "journal/pg/journal_rows.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>

#define BED_SHARD "test"

struct bed {
    PGconn *admin;
    struct journal_rows *a; // two members, with the settings of bed_settings()
    struct journal_rows *b;
};

// cmocka's setup and teardown; `*state` is the bed.
int bed_begin(void **state);
int bed_end(void **state);

// Leases of a minute, and as much patience, which no test uses up.
struct rows_settings bed_settings(const char *holder);
struct journal_rows *bed_open(const struct rows_settings *settings);
void bed_free(struct journal_rows *rows);
const char *bed_conninfo(void); // of the role
const char *bed_admin_conninfo(void);

// Says something to the server, which must succeed. The first field of the first row as a number;
// 0: there is none.
long long bed_sql(PGconn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));
PGconn *bed_connect(void);
// Lets the lease lapse.
void bed_lapse(struct bed *bed);
// Waits until that many backends of the role wait for `what`, which is "Lock" or "SyncRep".
void bed_await(struct bed *bed, const char *what, unsigned count);
// No row of the lease can be changed until bed_sql(bed->admin, "COMMIT").
void bed_lock_lease(struct bed *bed);

// A call of a member, made by a thread.
struct call {
    pthread_t thread;
    struct journal_rows *rows;
    enum rows_outcome (*make)(struct journal_rows *rows, uint64_t epoch);
    uint64_t epoch;
    enum rows_outcome outcome;
};
void call_begin(struct call *call, struct journal_rows *rows,
                enum rows_outcome (*make)(struct journal_rows *rows, uint64_t epoch),
                uint64_t epoch);
enum rows_outcome call_end(struct call *call);

// Takes the lease, which must succeed. The epoch.
uint64_t bed_take(struct journal_rows *rows);
// The lease as an owner knows it whose last row has that number.
struct rows_known bed_known(uint64_t epoch, uint64_t seq);
// As an owner that knows the present lease, except for its epoch.
enum rows_outcome bed_remove(struct journal_rows *rows, uint64_t epoch, uint64_t unit);
enum rows_outcome bed_release(struct journal_rows *rows, uint64_t epoch);
enum rows_outcome bed_append(struct journal_rows *rows, uint64_t epoch, uint64_t unit, uint64_t seq,
                             const char *bytes);
// The rows of the unit that can be read: numbers and bytes, as "1:abc 2:def". Valid until the next
// call.
const char *bed_read(struct journal_rows *rows, uint64_t unit, uint64_t after);

#endif
