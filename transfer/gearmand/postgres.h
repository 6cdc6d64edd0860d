/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_GEARMAND_POSTGRES_H
#define TANDEM_TRANSFER_GEARMAND_POSTGRES_H

// gearmand-postgres:CONNINFO, as `gearmand -q Postgres --libpq-conninfo CONNINFO` has filled it.
// Each call may wait for the server, one row long.

#include "transfer/source.h"

struct source *gearmand_postgres_open(const char *place, struct source_news *news);

#endif
