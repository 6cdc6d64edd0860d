/* SPDX-License-Identifier: MIT */
#include "tests/journal/pg/pg_bed.h"

#include "journal/pg/journal_rows.h"
#include "journal/pg/schema.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *bed_admin_conninfo(void)
{
    const char *conninfo = getenv("POSTGRES");

    if (!conninfo) {
        fail_msg("%s", "POSTGRES is not set: run this by tests/support/postgres.py");
    }
    return conninfo;
}

// Of words of which the last counts.
const char *bed_conninfo(void)
{
    static char conninfo[512];

    (void)snprintf(conninfo, sizeof conninfo, "%s user=tandem", bed_admin_conninfo());
    return conninfo;
}

PGconn *bed_connect(void)
{
    PGconn *conn = PQconnectdb(bed_admin_conninfo());

    if (PQstatus(conn) != CONNECTION_OK) {
        fail_msg("%s", PQerrorMessage(conn));
    }
    return conn;
}

long long bed_sql(PGconn *conn, const char *format, ...)
{
    char command[SCHEMA_TEXT_SIZE];
    PGresult *result;
    ExecStatusType status;
    va_list args;
    long long number = 0;

    va_start(args, format);
    (void)vsnprintf(command, sizeof command, format, args);
    va_end(args);
    result = PQexec(conn, command);
    status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        fail_msg("%s: %s", command, PQerrorMessage(conn));
    }
    if (PQntuples(result) > 0) {
        number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    }
    PQclear(result);
    return number;
}

// The shard of all tests, created once, as it takes a second.
static void make_shard(PGconn *admin)
{
    char said[SCHEMA_TEXT_SIZE];

    if (!journal_pg_init_store(bed_admin_conninfo(), BED_SHARD, said, sizeof said)) {
        fail_msg("%s", said);
    }
    if (bed_sql(admin, "SELECT count(*) FROM pg_roles WHERE rolname = 'tandem'") == 0) {
        (void)bed_sql(admin, "CREATE ROLE tandem LOGIN");
    }
    (void)bed_sql(admin, "%s", said);
}

static void empty_shard(PGconn *admin)
{
    (void)bed_sql(admin, "DELETE FROM tandem.rows; DELETE FROM tandem.member; "
                         "DELETE FROM tandem.lease; INSERT INTO tandem.lease (shard) "
                         "VALUES ('" BED_SHARD "')");
}

int bed_begin(void **state)
{
    static bool made;
    struct bed *bed = calloc(1, sizeof *bed);
    struct rows_settings a = bed_settings("a"), b = bed_settings("b");

    assert_non_null(bed);
    bed->admin = bed_connect();
    if (!made) {
        make_shard(bed->admin);
        made = true;
    }
    empty_shard(bed->admin);
    bed->a = bed_open(&a);
    bed->b = bed_open(&b);
    *state = bed;
    return 0;
}

int bed_end(void **state)
{
    struct bed *bed = *state;

    bed_free(bed->a);
    bed_free(bed->b);
    PQfinish(bed->admin);
    free(bed);
    return 0;
}

struct rows_settings bed_settings(const char *holder)
{
    return (struct rows_settings){
        .conninfo = bed_conninfo(),
        .shard = BED_SHARD,
        .holder = holder,
        .address = "beanstalk=127.0.0.1:11300",
        .ttl_for = nsec_from_seconds(60),
        .patience_for = nsec_from_seconds(60),
    };
}

struct journal_rows *bed_open(const struct rows_settings *settings)
{
    struct journal_rows *rows = journal_rows_libpq_new(settings);

    assert_non_null(rows);
    return rows;
}

void bed_free(struct journal_rows *rows)
{
    rows->ops->free(rows);
}

void bed_lapse(struct bed *bed)
{
    (void)bed_sql(bed->admin, "UPDATE tandem.lease SET expires = now()");
}

void bed_await(struct bed *bed, const char *what, unsigned count)
{
    for (unsigned i = 0; i < 6000; i++) {
        // In a transaction, its view of the rows does not change.
        (void)bed_sql(bed->admin, "SELECT pg_stat_clear_snapshot()");
        if (bed_sql(bed->admin,
                    "SELECT count(*) FROM pg_stat_activity WHERE usename = 'tandem' "
                    "AND '%s' IN (wait_event_type, wait_event)",
                    what) == count) {
            return;
        }
        (void)poll(NULL, 0, 10);
    }
    fail_msg("the expected number of sessions does not wait for %s", what);
}

void bed_lock_lease(struct bed *bed)
{
    (void)bed_sql(bed->admin, "BEGIN; SELECT * FROM tandem.lease FOR UPDATE");
}

static void *make_call(void *context)
{
    struct call *call = context;

    call->outcome = call->make(call->rows, call->epoch);
    return NULL;
}

void call_begin(struct call *call, struct journal_rows *rows,
                enum rows_outcome (*make)(struct journal_rows *rows, uint64_t epoch),
                uint64_t epoch)
{
    *call = (struct call){.rows = rows, .make = make, .epoch = epoch};
    assert_int_equal(pthread_create(&call->thread, NULL, make_call, call), 0);
}

enum rows_outcome call_end(struct call *call)
{
    assert_int_equal(pthread_join(call->thread, NULL), 0);
    return call->outcome;
}

uint64_t bed_take(struct journal_rows *rows)
{
    struct rows_lease lease, taken;

    if (rows->ops->look(rows, &lease) != ROWS_DONE) {
        fail_msg("%s", rows->ops->why(rows));
    }
    if (rows->ops->take(rows, &lease, &taken) != ROWS_DONE) {
        fail_msg("%s", rows->ops->why(rows));
    }
    assert_int_equal(taken.epoch, lease.epoch + 1);
    return taken.epoch;
}

struct rows_known bed_known(uint64_t epoch, uint64_t seq)
{
    return (struct rows_known){.epoch = epoch, .seq = seq};
}

static struct rows_known known_now(struct journal_rows *rows, uint64_t epoch)
{
    struct rows_lease lease = {0};

    (void)rows->ops->look(rows, &lease);
    return (struct rows_known){.epoch = epoch, .seq = lease.seq, .history = lease.history};
}

enum rows_outcome bed_remove(struct journal_rows *rows, uint64_t epoch, uint64_t unit)
{
    const struct rows_known known = known_now(rows, epoch);

    return rows->ops->remove(rows, &known, unit);
}

enum rows_outcome bed_release(struct journal_rows *rows, uint64_t epoch)
{
    const struct rows_known known = known_now(rows, epoch);

    return rows->ops->release(rows, &known);
}

enum rows_outcome bed_append(struct journal_rows *rows, uint64_t epoch, uint64_t unit, uint64_t seq,
                             const char *bytes)
{
    // In two parts, as batches come.
    union {
        const char *from;
        void *base;
    } text = {bytes};
    size_t len = strlen(bytes);
    struct iovec parts[] = {{.iov_base = text.base, .iov_len = len / 2},
                            {.iov_base = (char *)text.base + len / 2, .iov_len = len - len / 2}};
    struct rows_new row = {.unit = unit, .seq = seq, .parts = parts, .count = 2, .len = len};
    struct rows_append append = {.known = bed_known(epoch, seq - 1), .rows = &row, .count = 1};

    return rows->ops->append(rows, &append);
}

struct text {
    char bytes[4096];
    size_t len;
};

static bool note_row(void *context, const struct rows_row *row)
{
    struct text *text = context;

    text->len += (size_t)snprintf(text->bytes + text->len, sizeof text->bytes - text->len,
                                  "%s%llu:%.*s", text->len > 0 ? " " : "",
                                  (unsigned long long)row->seq, (int)row->len, row->bytes);
    assert_true(text->len < sizeof text->bytes);
    return true;
}

const char *bed_read(struct journal_rows *rows, uint64_t unit, uint64_t after)
{
    static struct text text;

    text = (struct text){.len = 0};
    if (rows->ops->read(rows, unit, after, note_row, &text) != ROWS_DONE) {
        fail_msg("%s", rows->ops->why(rows));
    }
    return text.bytes;
}
