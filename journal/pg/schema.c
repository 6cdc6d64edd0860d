/* SPDX-License-Identifier: MIT */
#include "journal/pg/schema.h"

#include "journal/pg/db.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// For locks of other sessions, and for a large number of tables.
#define PATIENCE_FOR nsec_from_seconds(60)

// Two processes that create the schema do so one after the other; the number is this schema's own.
// If the schema is in use, there is no long wait that would delay brokers; and if this process is
// stopped or cut off, its locks do not last longer than that either.
static const char begin[] = "BEGIN; SELECT pg_advisory_xact_lock(7310571060325937513); "
                            "SET LOCAL lock_timeout = '2s'; "
                            "SET LOCAL idle_in_transaction_session_timeout = '2s'";

// The rows of leases and members change all the time: their pages have space for the next version,
// so that indexes are not touched and old versions are cleaned up in passing. Bytes are stored
// uncompressed: clients compress them if it pays. The storage is set only once: setting it again
// would lock every partition.
static const char tables[] =
    "CREATE SCHEMA IF NOT EXISTS tandem;"
    "CREATE TABLE IF NOT EXISTS tandem.version (version int NOT NULL);"
    "CREATE TABLE IF NOT EXISTS tandem.lease ("
    "shard text PRIMARY KEY, epoch bigint NOT NULL DEFAULT 0, turn bigint NOT NULL DEFAULT 0, "
    "holder text NOT NULL DEFAULT '', address text NOT NULL DEFAULT '', "
    "since timestamptz NOT NULL DEFAULT now(), expires timestamptz NOT NULL DEFAULT now(), "
    "released boolean NOT NULL DEFAULT true, oldest bigint NOT NULL DEFAULT 1, "
    "unit bigint NOT NULL DEFAULT 0, seq bigint NOT NULL DEFAULT 0, "
    "history bigint NOT NULL DEFAULT 0) WITH (fillfactor = 10);"
    "CREATE TABLE IF NOT EXISTS tandem.member ("
    "shard text, node text, address text NOT NULL, owner boolean NOT NULL, "
    "takes boolean NOT NULL, epoch bigint NOT NULL, seq bigint NOT NULL, "
    "seen timestamptz NOT NULL, PRIMARY KEY (shard, node)) "
    "WITH (fillfactor = 10);"
    "CREATE TABLE IF NOT EXISTS tandem.rows ("
    "shard text NOT NULL, slot smallint NOT NULL, unit bigint NOT NULL, seq bigint NOT NULL, "
    "epoch bigint NOT NULL, batch bytea NOT NULL) PARTITION BY LIST (shard);"
    "DO $$ BEGIN IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'tandem.rows'::regclass "
    "AND attname = 'batch' AND attstorage <> 'e') THEN "
    "ALTER TABLE tandem.rows ALTER COLUMN batch SET STORAGE EXTERNAL; END IF; END $$";

bool schema_shard_is_sane(const char *shard)
{
    size_t len = strlen(shard);

    return len > 0 && len <= SCHEMA_SHARD_MAX &&
           strspn(shard, "abcdefghijklmnopqrstuvwxyz0123456789_") == len;
}

static enum rows_outcome schema_say(struct db *db, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum rows_outcome schema_say(struct db *db, const char *format, ...)
{
    char command[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(command, sizeof command, format, args);
    va_end(args);
    db_go_on(db);
    return db_say(db, command, DB_CHANGES);
}

// Reads the version before anything is changed.
static enum rows_outcome schema_check_version(struct db *db, bool *old)
{
    PGresult *result;
    enum rows_outcome outcome =
        db_ask(db, "SELECT to_regclass('tandem.version') IS NOT NULL", DB_LOOKS, &result);
    bool there = outcome == ROWS_DONE && strcmp(PQgetvalue(result, 0, 0), "t") == 0;

    PQclear(result);
    if (!there) {
        return outcome;
    }
    outcome = db_ask(db, "SELECT version FROM tandem.version", DB_LOOKS, &result);
    *old =
        outcome == ROWS_DONE && PQntuples(result) > 0 && strcmp(PQgetvalue(result, 0, 0), "1") == 0;
    if (outcome == ROWS_DONE && PQntuples(result) > 0 && !*old &&
        strcmp(PQgetvalue(result, 0, 0), SCHEMA_VERSION) != 0) {
        outcome = db_fail(db, ROWS_REFUSED, SCHEMA_IS_ANOTHER, PQgetvalue(result, 0, 0));
    }
    PQclear(result);
    return outcome;
}

// Unlike creating it as a partition, attaching it does not block processes that add rows of another
// shard.
static enum rows_outcome schema_attach_shard(struct db *db, const char *shard)
{
    return schema_say(
        db,
        "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_inherits "
        "WHERE inhrelid = 'tandem.shard_%s'::regclass) THEN "
        "ALTER TABLE tandem.rows ATTACH PARTITION tandem.shard_%s FOR VALUES IN ('%s'); "
        "END IF; END $$",
        shard, shard, shard);
}

// Tables that are truncated in the end need no vacuum, which would lock them.
static enum rows_outcome schema_make_shard(struct db *db, const char *shard)
{
    enum rows_outcome outcome =
        schema_say(db,
                   "CREATE TABLE IF NOT EXISTS tandem.shard_%s "
                   "(LIKE tandem.rows INCLUDING STORAGE) PARTITION BY LIST (slot)",
                   shard);

    for (unsigned slot = 0; slot < ROWS_UNITS_MAX && outcome == ROWS_DONE; slot++) {
        outcome = schema_say(db,
                             "CREATE TABLE IF NOT EXISTS tandem.rows_%s_%u PARTITION OF "
                             "tandem.shard_%s (PRIMARY KEY (unit, seq)) FOR VALUES IN (%u) "
                             "WITH (autovacuum_enabled = false, toast.autovacuum_enabled = false)",
                             shard, slot, shard, slot);
    }
    if (outcome == ROWS_DONE) {
        outcome = schema_attach_shard(db, shard);
    }
    if (outcome == ROWS_DONE) {
        outcome = schema_say(
            db, "INSERT INTO tandem.lease (shard) VALUES ('%s') ON CONFLICT DO NOTHING", shard);
    }
    return outcome;
}

static enum rows_outcome schema_make(struct db *db, const char *shard)
{
    enum rows_outcome outcome = db_ready(db);
    bool old = false;

    if (outcome == ROWS_DONE) {
        outcome = schema_say(db, "%s", begin);
    }
    if (outcome == ROWS_DONE) {
        outcome = schema_check_version(db, &old);
    }
    if (outcome == ROWS_DONE && old) {
        // Adds what version 1 does not have, without rewriting rows.
        outcome =
            schema_say(db, "ALTER TABLE tandem.lease ADD COLUMN history bigint NOT NULL DEFAULT 0; "
                           "UPDATE tandem.version SET version = " SCHEMA_VERSION);
    }
    if (outcome == ROWS_DONE) {
        db_go_on(db);
        outcome = db_say(db, tables, DB_CHANGES);
    }
    if (outcome == ROWS_DONE) {
        outcome = schema_say(db, "INSERT INTO tandem.version SELECT " SCHEMA_VERSION
                                 " WHERE NOT EXISTS (SELECT FROM tandem.version)");
    }
    if (outcome == ROWS_DONE) {
        outcome = schema_make_shard(db, shard);
    }
    return outcome == ROWS_DONE ? schema_say(db, "COMMIT") : outcome;
}

static void schema_tell_grants(const char *shard, char *said, size_t size)
{
    size_t len = (size_t)snprintf(
        said, size,
        "-- What the role by which the broker connects needs, and nothing more. Its name is\n"
        "-- tandem here.\n"
        "GRANT USAGE ON SCHEMA tandem TO tandem;\n"
        "GRANT SELECT ON tandem.version TO tandem;\n"
        "GRANT SELECT, UPDATE ON tandem.lease TO tandem;\n"
        "GRANT SELECT, INSERT, UPDATE, DELETE ON tandem.member TO tandem;\n"
        "GRANT INSERT ON tandem.rows TO tandem;\n"
        "GRANT SELECT, TRUNCATE ON");

    for (unsigned slot = 0; slot < ROWS_UNITS_MAX && len < size; slot++) {
        len += (size_t)snprintf(said + len, size - len, "%s\n    tandem.rows_%s_%u",
                                slot > 0 ? "," : "", shard, slot);
    }
    if (len < size) {
        (void)snprintf(said + len, size - len, " TO tandem;\n");
    }
}

bool journal_pg_init_store(const char *conninfo, const char *shard, char *said, size_t size)
{
    struct db db;
    bool good = false;

    if (!schema_shard_is_sane(shard)) {
        (void)snprintf(said, size, "the name of a shard has 1 to 32 of a-z, 0-9 and _");
        return false;
    }
    if (db_init(&db, conninfo, PATIENCE_FOR)) {
        db.bare = true;
        db_begin(&db);
        good = schema_make(&db, shard) == ROWS_DONE;
    } else {
        (void)db_fail(&db, ROWS_AWAY, "out of memory");
    }
    if (good) {
        schema_tell_grants(shard, said, size);
    } else {
        (void)snprintf(said, size, "%s", db.why);
    }
    db_close(&db);
    return good;
}
