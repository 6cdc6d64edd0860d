/* SPDX-License-Identifier: MIT */
#include "server/process/syslog_path.h"

#include <stddef.h>
#include <string.h>

#define WORD "syslog"

const char *syslog_path(const char *log_file)
{
    if (strcmp(log_file, WORD) == 0) {
        return SYSLOG_PATH;
    }
    return strncmp(log_file, WORD ":", sizeof WORD) == 0 ? log_file + sizeof WORD : NULL;
}
