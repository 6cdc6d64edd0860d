/* SPDX-License-Identifier: MIT */
#include "server/log/log_output.h"

#include "core/base/log.h"
#include "server/log/log_line.h"
#include "server/log/log_syslog.h"
#include "server/process/clock.h"
#include "server/process/daemon.h"
#include "server/process/safe_path.h"
#include "server/process/syslog_path.h"

#include <event2/event.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void output_line(void *context, enum log_level level, const char *name,
                        const struct log_field *fields, size_t count)
{
    const struct log_output *output = context;
    const struct log_event event = {.wall_at = clock_now().wall,
                                    .level = level,
                                    .name = name,
                                    .fields = fields,
                                    .count = count};
    struct log_style style;
    char line[LOG_LINE_MAX];
    int saved = errno;

    log_writer_style(output->writer, &style);
    log_writer_put(output->writer, line, log_line_of(&event, &style, line));
    errno = saved;
}

static void output_drain(void *context)
{
    const struct log_output *output = context;

    (void)log_writer_drain(output->writer);
}

void log_output_init(struct log_output *output)
{
    *output = (struct log_output){.fd = STDERR_FILENO};
}

// Opens a file that lines can be appended to. -1 with the reason in `why`.
static int log_output_open_file(const char *path, bool *made, struct error_text *why)
{
    struct safe_path place;
    struct stat st;
    int fd = -1;

    if (safe_path_find(&place, path, true, why)) {
        // O_NONBLOCK makes opening a pipe without a reader fail instead of block.
        fd = safe_path_open(&place, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY, 0640, made, why);
        safe_path_close(&place);
    }
    if (fd >= 0 && (fstat(fd, &st) != 0 ||
                    !(S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))) {
        error_set(why, "not a regular file");
        (void)close(fd);
        fd = -1;
    }
    if (fd < 0) {
        error_prefix(why, "log_file %s: ", path);
    }
    return fd;
}

bool log_output_prepare(struct log_opening *opening, const char *path, enum log_format format,
                        enum log_level level, struct error_text *why)
{
    const char *syslog = syslog_path(path);

    *opening =
        (struct log_opening){.fd = STDERR_FILENO, .style = {.format = format}, .level = level};
    if (syslog) {
        (void)snprintf(opening->style.syslog, sizeof opening->style.syslog, "%s", syslog);
        opening->fd = log_syslog_open(syslog, why);
    } else if (*path) {
        opening->fd = log_output_open_file(path, &opening->made, why);
    }
    return opening->fd >= 0;
}

void log_output_discard(const struct log_opening *opening)
{
    if (opening->fd != STDERR_FILENO) {
        (void)close(opening->fd);
    }
}

// The sink stays the same, because the journal's thread may log meanwhile.
void log_output_adopt(struct log_output *output, const struct log_opening *opening)
{
    ENSURE(output->writer);
    log_writer_change(output->writer, opening->fd, &opening->style);
    log_set_most(opening->level);
    output->fd = opening->fd;
    output->made = opening->made;
}

bool log_output_open(struct log_output *output, const char *path, enum log_format format,
                     enum log_level level, struct error_text *why)
{
    struct log_opening opening;

    if (!log_output_prepare(&opening, path, format, level, why)) {
        return false;
    }
    if (output->writer) {
        log_output_adopt(output, &opening);
        return true;
    }
    output->writer = log_writer_new(opening.fd, &opening.style);
    if (!output->writer) {
        log_output_discard(&opening);
        return error_set(why, "out of memory or threads");
    }
    log_set_sink(output_line, output, opening.level);
    log_set_drain(output_drain);
    output->fd = opening.fd;
    output->made = opening.made;
    return true;
}

void log_output_limit(const struct log_output *output, enum log_level level)
{
    ENSURE(output->writer);
    log_set_most(level);
}

void log_output_give(const struct log_output *output, uid_t uid, gid_t gid)
{
    if (output->made) {
        int ignored = fchown(output->fd, uid, gid);

        (void)ignored;
    }
}

void log_output_close(struct log_output *output)
{
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    log_writer_free(output->writer);
    log_output_init(output);
}

static enum log_level libevent_level(int severity)
{
    switch (severity) {
    case EVENT_LOG_DEBUG:
    case EVENT_LOG_MSG:
        return LOG_LEVEL_DEBUG;
    case EVENT_LOG_WARN:
        return LOG_LEVEL_WARN;
    default:
        return LOG_LEVEL_ERROR;
    }
}

static void libevent_log_line(int severity, const char *text)
{
    LOG_AT(libevent_level(severity), "libevent", log_string("text", text));
}

static void libevent_log_fatal(int error)
{
    // libevent is out of memory or descriptors; that is not a bug, so no core file is needed.
    log_error("libevent_fatal", log_number("error", error));
    log_drain();
    _exit(exit_reason_code(EXIT_REASON_OTHER, EXIT_CODES_OURS));
}

void libevent_log_route(void)
{
    event_set_log_callback(libevent_log_line);
    event_set_fatal_callback(libevent_log_fatal);
}
