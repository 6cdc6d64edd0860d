/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LOG_LOG_SYSLOG_H
#define TANDEM_SERVER_LOG_LOG_SYSLOG_H

// Lines for the system's log: each is a datagram, with what goes in front of it there (RFC 3164,
// section 4.1, but for the host, as the C library has it for the local log).

#include "core/base/macros.h"
#include "server/log/log_line.h"
#include "core/base/error_text.h"

#include <stdbool.h>

// A socket whose datagrams go to that path; -1 with the reason in `why`.
int log_syslog_open(const char *path, struct error_text *why);

// Has them go there again, where a daemon that was started anew may listen now. False: it does not.
bool log_syslog_join(int fd, const char *path) MUST_USE;

// Makes a datagram of a line of `len` bytes, whose end of line goes. Returns its length.
size_t log_syslog_line(const struct log_event *event, const char *line, size_t len,
                       char datagram[LOG_LINE_MAX]);

#endif
