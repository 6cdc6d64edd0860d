/* SPDX-License-Identifier: MIT */
// program_invocation_short_name is a GNU variable.
#define _GNU_SOURCE
#include "server/log/log_syslog.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

int log_syslog_open(const char *path, struct error_text *why)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && log_syslog_join(fd, path)) {
        return fd;
    }
    error_set(why, "log_file syslog: %s: %s", path, strerror(errno));
    if (fd >= 0) {
        (void)close(fd);
    }
    return -1;
}

bool log_syslog_join(int fd, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
}

static int syslog_priority(enum log_level level)
{
    switch (level) {
    case LOG_LEVEL_ERROR:
        return LOG_DAEMON | LOG_ERR;
    case LOG_LEVEL_WARN:
        return LOG_DAEMON | LOG_WARNING;
    case LOG_LEVEL_INFO:
        return LOG_DAEMON | LOG_INFO;
    case LOG_LEVEL_DEBUG:
        return LOG_DAEMON | LOG_DEBUG;
    }
    UNREACHABLE();
}

size_t log_syslog_line(const struct log_event *event, const char *line, size_t len,
                       char datagram[LOG_LINE_MAX])
{
    time_t seconds = (time_t)(event->wall_at / NSEC_PER_SEC);
    struct tm local = {0};
    char when[32] = "";
    size_t head;
    size_t rest = len > 0 ? len - 1 : 0;

    (void)localtime_r(&seconds, &local);
    (void)strftime(when, sizeof when, "%b %e %H:%M:%S", &local);
    (void)snprintf(datagram, LOG_LINE_MAX, "<%d>%s %.64s[%ld]: ", syslog_priority(event->level),
                   when, program_invocation_short_name, (long)getpid());
    head = strlen(datagram);
    rest = rest < LOG_LINE_MAX - head ? rest : LOG_LINE_MAX - head;
    memcpy(datagram + head, line, rest);
    return head + rest;
}
