/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_SCHEMA_H
#define TANDEM_JOURNAL_PG_SCHEMA_H

// What a database must have for journals to be kept in it: a schema "tandem", and in it a place for
// each shard.
//
//   tandem.version  the version of all of this: one row
//   tandem.lease    a row for each shard: who has it, until when, and what its rows come to
//   tandem.member   a row for each process that takes part
//   tandem.rows     the rows: partitions tandem.shard_SHARD, and of each of these partitions
//                   tandem.rows_SHARD_SLOT
//
// A unit is in the slot of its number by ROWS_UNITS_MAX, and alone there: removed, it is truncated.
// Only who makes the schema changes what tables there are.

#include "core/base/macros.h"

#include <stdbool.h>
#include <stddef.h>

#define SCHEMA_VERSION "2"
#define SCHEMA_IS_NOT_THERE "the database has no journal: tandemd --init-store makes one"
#define SCHEMA_IS_ANOTHER                                                                          \
    "the tables in the database are of version %s, and this tandemd needs version " SCHEMA_VERSION \
    ": an older version is raised by tandemd --init-store, a newer one needs a newer tandemd"

// Most characters of a shard's name, which are a-z, 0-9 and _.
#define SCHEMA_SHARD_MAX 32

bool schema_shard_is_sane(const char *shard);

// Makes what is not there yet, as the user of the connection string, and leaves alone what is:
// calling it again does no harm. Tables of version 1 are raised, also while brokers use them: those
// of that version go on until they connect anew. `said`, of SCHEMA_TEXT_SIZE bytes at least, is
// then what is to be granted to the role by which the broker connects, as SQL. False: `said` is
// why; without passwords.
#define SCHEMA_TEXT_SIZE 8192
bool journal_pg_init_store(const char *conninfo, const char *shard, char *said,
                           size_t size) MUST_USE;

#endif
