/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LOG_LOG_SYSLOG_H
#define TANDEM_SERVER_LOG_LOG_SYSLOG_H

// Lines for the system log: each is a datagram with the header of RFC 3164, section 4.1, but
// without the host, as the C library sends it to the local log.

#include "core/base/macros.h"
#include "server/log/log_line.h"
#include "core/base/error_text.h"

#include <stdbool.h>

// Opens a socket that sends to that path; -1 with the reason in `why`.
int log_syslog_open(const char *path, struct error_text *why);

// Connects the socket to the path again, after the daemon has restarted. False: nothing listens.
bool log_syslog_join(int fd, const char *path) MUST_USE;

// Makes a datagram of a line of `len` bytes, without its line end. Returns its length.
size_t log_syslog_line(const struct log_event *event, const char *line, size_t len,
                       char datagram[LOG_LINE_MAX]);

#endif
