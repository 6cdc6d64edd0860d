/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_GEARMAND_SQLITE_H
#define TANDEM_TRANSFER_GEARMAND_SQLITE_H

// gearmand-sqlite:FILE, as `gearmand -q libsqlite3 --libsqlite3-db FILE` has written it.

#include "transfer/source.h"

struct source *gearmand_sqlite_open(const char *place, struct source_news *news);

#endif
