/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_SYSLOG_PATH_H
#define TANDEM_SERVER_PROCESS_SYSLOG_PATH_H

#include <stddef.h>
#include <string.h>

// The default socket of the system log.
#define SYSLOG_PATH "/dev/log"

// A value of `log_file` means the system log if it is `syslog`, or `syslog:PATH` for a socket at
// another path, such as one that is mounted into a container. Returns the path; NULL if the value
// names a file.
static inline const char *syslog_path(const char *log_file)
{
    static const char word[] = "syslog:";

    if (strncmp(log_file, word, sizeof word - 1) == 0) {
        return log_file + sizeof word - 1;
    }
    return strcmp(log_file, "syslog") == 0 ? SYSLOG_PATH : NULL;
}

#endif
