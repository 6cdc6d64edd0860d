/* SPDX-License-Identifier: MIT */
#include "server/config/import_kinds.h"

#include "transfer/beanstalkd/beanstalkd.h"
#include "transfer/gearmand/gearmand.h"
#include "server/config/conninfo.h"

#include <string.h>

const struct source_kind *const import_kinds[] = {
    &beanstalkd_source,
    &gearmand_sqlite_source,
    &gearmand_postgres_source,
    &gearmand_mysql_dump_source,
    NULL,
};

void import_show(const char *text, FILE *file)
{
    const char *name = gearmand_postgres_source.name;
    size_t len = strlen(name);

    if (strncmp(text, name, len) == 0 && text[len] == ':') {
        (void)fprintf(file, "%s:", name);
        conninfo_show(text + len + 1, file);
    } else {
        (void)fputs(text, file);
    }
}
