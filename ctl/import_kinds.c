/* SPDX-License-Identifier: MIT */
#include "ctl/import_kinds.h"

#include "transfer/beanstalkd/beanstalkd.h"
#include "transfer/gearmand/gearmand.h"

const struct source_kind *const import_kinds_known[] = {
    &beanstalkd_source,
    &gearmand_sqlite_source,
    &gearmand_postgres_source,
    &gearmand_mysql_dump_source,
    NULL,
};
