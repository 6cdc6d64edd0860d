/* SPDX-License-Identifier: MIT */
#include "transfer/gearmand/gearmand.h"

#include "transfer/gearmand/mysql_dump.h"
#include "transfer/gearmand/postgres.h"
#include "transfer/gearmand/sqlite.h"

const struct source_kind gearmand_sqlite_source = {"gearmand-sqlite", gearmand_sqlite_open};
const struct source_kind gearmand_postgres_source = {"gearmand-postgres", gearmand_postgres_open};
const struct source_kind gearmand_mysql_dump_source = {"gearmand-mysql-dump",
                                                       gearmand_mysql_dump_open};
