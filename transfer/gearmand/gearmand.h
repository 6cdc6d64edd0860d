/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_GEARMAND_GEARMAND_H
#define TANDEM_TRANSFER_GEARMAND_GEARMAND_H

// The persistent queues of gearmand (1.1), as sources of jobs: a table with a row for each
// background job, with `unique_key`, `function_name`, `priority` (0 high, 1 normal, 2 low), `data`
// and `when_to_run` (seconds since 1970, 0 for at once; missing in older tables). The rows are read
// in the order in which gearmand reads them when it starts. Nothing is changed.
//
// The function becomes the queue, and the unique key the key, also if a client library generated
// it: it looks the same. A job with an empty unique key has no key; `-` stands for the data, as in
// the protocol.
//
// A place may end with `?table=NAME`. Without it, the table has the default name of gearmand.

#include "transfer/source.h"

extern const struct source_kind gearmand_sqlite_source;     // gearmand-sqlite:FILE
extern const struct source_kind gearmand_postgres_source;   // gearmand-postgres:CONNINFO
extern const struct source_kind gearmand_mysql_dump_source; // gearmand-mysql-dump:FILE

#endif
