/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_SCHEMA_H
#define TANDEM_JOURNAL_PG_SCHEMA_H

// The tables of journals in a database: a schema "tandem" with a place for each shard.
//
//   tandem.version  the version of the schema: one row
//   tandem.lease    a row for each shard: its holder, until when, and its last row
//   tandem.member   a row for each process that takes part
//   tandem.rows     the rows: its partitions are tandem.shard_SHARD, and theirs are
//                   tandem.rows_SHARD_SLOT
//
// A unit is in the slot of its number modulo ROWS_UNITS_MAX, alone; to remove it, the slot is
// truncated. Only the process that creates the schema changes which tables there are.

#include "core/base/macros.h"

#include <stdbool.h>
#include <stddef.h>

#define SCHEMA_VERSION "2"
#define SCHEMA_IS_NOT_THERE "the database has no journal: create it by tandemd --init-store"
#define SCHEMA_IS_ANOTHER                                                                          \
    "the tables in the database are of version %s, and this tandemd needs version " SCHEMA_VERSION \
    ": an older version is raised by tandemd --init-store, a newer one needs a newer tandemd"

// Most characters of a shard's name, of a-z, 0-9 and _.
#define SCHEMA_SHARD_MAX 32

bool schema_shard_is_sane(const char *shard);

// Creates what is missing, as the user of the connection string; calling it again does no harm.
// Raises tables of version 1, also while brokers use them: brokers of that version go on until they
// connect again. `said`, of at least SCHEMA_TEXT_SIZE bytes, is then the SQL that grants the
// broker's role its rights. False: `said` is the reason, without passwords.
#define SCHEMA_TEXT_SIZE 8192
bool journal_pg_init_store(const char *conninfo, const char *shard, char *said,
                           size_t size) MUST_USE;

#endif
