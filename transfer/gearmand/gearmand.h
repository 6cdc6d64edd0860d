/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_GEARMAND_GEARMAND_H
#define TANDEM_TRANSFER_GEARMAND_GEARMAND_H

// The persistent queues of gearmand (1.1), as sources of jobs: a table with a row for each job in
// the background, of `unique_key`, `function_name`, `priority` (0 high, 1 normal, 2 low), `data`
// and `when_to_run` (seconds since 1970; 0: at once; older tables lack it). The rows are taken in
// the order in which gearmand reads them when it starts, and nothing is changed.
//
// The function is the queue, the unique key the key: one that a client library has made up, too,
// since nobody can tell it from another. A job without one has none, and `-` stands for its data,
// as in the protocol.
//
// Behind the place may stand `?table=NAME`, where it is not the one that gearmand names by default.

#include "transfer/source.h"

extern const struct source_kind gearmand_sqlite_source;     // gearmand-sqlite:FILE
extern const struct source_kind gearmand_postgres_source;   // gearmand-postgres:CONNINFO
extern const struct source_kind gearmand_mysql_dump_source; // gearmand-mysql-dump:FILE

#endif
