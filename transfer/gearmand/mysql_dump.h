/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_GEARMAND_MYSQL_DUMP_H
#define TANDEM_TRANSFER_GEARMAND_MYSQL_DUMP_H

// gearmand-mysql-dump:FILE, what mysqldump or mariadb-dump has written of gearmand's table: the
// statements INSERT and REPLACE, in any of their forms, and the order of columns of CREATE TABLE.
// All other statements are passed over, and so are rows of other tables. A dump that does not speak
// of the table at all is none of it.

#include "transfer/source.h"

struct source *gearmand_mysql_dump_open(const char *place, struct source_news *news);

#endif
