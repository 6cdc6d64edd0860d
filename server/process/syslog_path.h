/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_SYSLOG_PATH_H
#define TANDEM_SERVER_PROCESS_SYSLOG_PATH_H

// Where the system's log takes lines.
#define SYSLOG_PATH "/dev/log"

// A value of `log_file` that names the system's log: `syslog`, or `syslog:PATH` for a socket at
// another place, such as one that is mounted into a container. Returns the path; NULL where the
// value is that of a file.
const char *syslog_path(const char *log_file);

#endif
