/* SPDX-License-Identifier: MIT */
#include "import/gearmand/gearmand.h"

#include "import/gearmand/mysql_dump.h"
#include "import/gearmand/postgres.h"
#include "import/gearmand/sqlite.h"

const struct source_kind gearmand_sqlite_source = {"gearmand-sqlite", gearmand_sqlite_open};
const struct source_kind gearmand_postgres_source = {"gearmand-postgres", gearmand_postgres_open};
const struct source_kind gearmand_mysql_dump_source = {"gearmand-mysql-dump",
                                                       gearmand_mysql_dump_open};
