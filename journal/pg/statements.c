/* SPDX-License-Identifier: MIT */
#include "journal/pg/statements.h"

// Unlike now(), clock_timestamp() advances while a statement waits for a lock: the lease lasts from
// the moment the lock was granted, or slightly before.
#define LATER(ms) "clock_timestamp() + " ms "::bigint * interval '1 ms'"
#define MINE                                                                                       \
    "shard = $1::text AND epoch = $2::bigint AND holder = $3::text AND turn = $4::bigint "         \
    "AND NOT released AND seq = $5::bigint AND history = $6::bigint"
#define LEASE                                                                                      \
    "epoch, oldest, unit, seq, holder, address, "                                                  \
    "(extract(epoch FROM since) * 1000)::bigint, "                                                 \
    "(extract(epoch FROM expires - clock_timestamp()) * 1000000)::bigint, released, turn, history"
#define WAKE "pg_notify('tandem_' || $1::text, '')"
#define MEMBER                                                                                     \
    "node, address, owner, takes, epoch, seq, "                                                    \
    "(extract(epoch FROM clock_timestamp() - seen) * 1000000)::bigint AS age"
// One statement, so that the lease and the row are in one transaction without another round trip.
#define APPEND_TO_LEASE                                                                            \
    "WITH l AS (UPDATE tandem.lease SET history = $8::bigint, seq = $9::bigint, "                  \
    "unit = $10::bigint, expires = " LATER(                                                        \
        "$7") " WHERE " MINE " RETURNING 1), "                                                     \
              "r AS (INSERT INTO tandem.rows (shard, slot, unit, seq, epoch, batch) "              \
              "SELECT $1::text, $11::bigint::smallint, $10::bigint, $9::bigint, "                  \
              "$2::bigint, $12::bytea FROM l RETURNING 1) "

static const struct {
    const char *name;
    const char *text;
} statements[] = {
    [LOOK] = {"look", "SELECT " LEASE " FROM tandem.lease WHERE shard = $1::text"},
    [TAKE] = {"take", "UPDATE tandem.lease SET epoch = epoch + 1, turn = turn + 1, "
                      "holder = $3::text, address = $4::text, since = clock_timestamp(), "
                      "expires = " LATER("$5") ", released = false "
                                               "WHERE shard = $1::text AND epoch = $2::bigint "
                                               "AND holder = $6::text AND (released OR expires <= "
                                               "clock_timestamp()) RETURNING " LEASE},
    [RENEW] = {"renew",
               "UPDATE tandem.lease SET turn = turn + 1, expires = " LATER(
                   "$4") " "
                         "WHERE shard = $1::text AND epoch = $2::bigint AND holder = $3::text "
                         "AND NOT released RETURNING " LEASE},
    [ADD] = {"add", "INSERT INTO tandem.rows (shard, slot, unit, seq, epoch, batch) VALUES "
                    "($1::text, $2::bigint::smallint, $3::bigint, $4::bigint, $5::bigint, "
                    "$6::bytea)"},
    [APPEND] = {"append", APPEND_TO_LEASE "SELECT 1 FROM r"},
    [APPEND_TELL] = {"append_tell", APPEND_TO_LEASE "SELECT " WAKE " FROM r"},
    [HOLD] = {"hold", "SELECT oldest FROM tandem.lease WHERE " MINE " FOR UPDATE"},
    [PASS] = {"pass", "UPDATE tandem.lease SET oldest = $2::bigint WHERE shard = $1::text"},
    [RELEASE] = {"release", "WITH l AS (UPDATE tandem.lease SET released = true, "
                            "expires = clock_timestamp() WHERE " MINE " RETURNING 1) "
                            "SELECT " WAKE " FROM l"},
    // The state of members is of the moment: it waits for no disk, standby or lock. Members that
    // have not reported for a day are deleted.
    [REPORT] = {"report",
                "WITH own AS (INSERT INTO tandem.member AS m "
                "(shard, node, address, owner, takes, epoch, seq, seen) "
                "SELECT $1::text, $2::text, $3::text, $4::bigint <> 0, $5::bigint <> 0, "
                "$6::bigint, $7::bigint, clock_timestamp() "
                "FROM set_config('synchronous_commit', 'off', true) AS a, "
                "set_config('lock_timeout', '100ms', true) AS b "
                "ON CONFLICT (shard, node) DO UPDATE SET address = excluded.address, "
                "owner = excluded.owner, takes = excluded.takes, epoch = excluded.epoch, "
                "seq = excluded.seq, seen = excluded.seen RETURNING " MEMBER "), "
                "old AS (DELETE FROM tandem.member WHERE shard = $1::text AND node <> $2::text "
                "AND seen < clock_timestamp() - interval '1 day') "
                "SELECT * FROM own UNION ALL (SELECT " MEMBER " FROM tandem.member "
                "WHERE shard = $1::text AND node <> $2::text "
                "AND seen > clock_timestamp() - interval '1 minute' ORDER BY seen DESC LIMIT 15)"},
    // A server other than PostgreSQL may not have all of these.
    [CARE] = {"care", "SELECT current_setting('synchronous_commit', true), "
                      "current_setting('fsync', true), "
                      "current_setting('synchronous_standby_names', true)"},
};

const char *statement_text(enum statement statement)
{
    return statements[statement].text;
}

const char *statement_name(enum statement statement)
{
    return statements[statement].name;
}
