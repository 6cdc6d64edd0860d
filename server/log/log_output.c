/* SPDX-License-Identifier: MIT */
#include "server/log/log_output.h"

#include "server/log/log_line.h"
#include "server/process/clock.h"
#include "server/log/log_syslog.h"
#include "server/process/safe_path.h"
#include "server/process/syslog_path.h"

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
    struct log_look look;
    char line[LOG_LINE_MAX];
    int saved = errno;

    log_writer_look(output->writer, &look);
    log_writer_put(output->writer, line, log_line_of(&event, &look, line));
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

// What lines can be appended to.
static bool is_log(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 &&
           (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode));
}

// -1 with the reason in `why`.
static int open_file(const char *path, bool *made, struct reason *why)
{
    struct safe_path place;
    int fd = -1;

    if (safe_path_find(&place, path, true, why)) {
        // A pipe that nobody reads is an error, not something to wait for.
        fd = safe_path_open(&place, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY, 0640, made, why);
        safe_path_close(&place);
    }
    if (fd >= 0 && !is_log(fd)) {
        reason_set(why, "there is something else than a file");
        (void)close(fd);
        fd = -1;
    }
    if (fd < 0) {
        reason_wrap(why, "log_file %s: ", path);
    }
    return fd;
}

// Takes `fd` over in any case. The journal's thread may log meanwhile, so that the sink stays where
// there is one.
static bool output_change(struct log_output *output, int fd, const struct log_look *look,
                          enum log_level level)
{
    if (output->writer) {
        log_writer_change(output->writer, fd, look);
        log_set_most(level);
        return true;
    }
    output->writer = log_writer_new(fd, look);
    if (output->writer) {
        log_set_sink(output_line, output, level);
        log_set_drain(output_drain);
    } else if (fd != STDERR_FILENO) {
        (void)close(fd);
    }
    return output->writer != NULL;
}

bool log_output_open(struct log_output *output, const char *path, enum log_format format,
                     enum log_level level, struct reason *why)
{
    const char *syslog = syslog_path(path);
    struct log_look look = {.format = format};
    bool made = false;
    int fd = STDERR_FILENO;

    if (syslog) {
        (void)snprintf(look.syslog, sizeof look.syslog, "%s", syslog);
        fd = log_syslog_open(syslog, why);
    } else if (*path) {
        fd = open_file(path, &made, why);
    }

    if (fd < 0) {
        return false;
    }
    if (!output_change(output, fd, &look, level)) {
        reason_set(why, "out of memory or threads");
        return false;
    }
    output->fd = fd;
    output->made = made;
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
