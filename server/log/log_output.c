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
static int open_file(const char *path, bool *made, struct error_text *why)
{
    struct safe_path place;
    int fd = -1;

    if (safe_path_find(&place, path, true, why)) {
        // A pipe that nobody reads is an error, not something to wait for.
        fd = safe_path_open(&place, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY, 0640, made, why);
        safe_path_close(&place);
    }
    if (fd >= 0 && !is_log(fd)) {
        error_set(why, "there is something else than a file");
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
        (struct log_opening){.fd = STDERR_FILENO, .look = {.format = format}, .level = level};
    if (syslog) {
        (void)snprintf(opening->look.syslog, sizeof opening->look.syslog, "%s", syslog);
        opening->fd = log_syslog_open(syslog, why);
    } else if (*path) {
        opening->fd = open_file(path, &opening->made, why);
    }
    return opening->fd >= 0;
}

void log_output_discard(const struct log_opening *opening)
{
    if (opening->fd != STDERR_FILENO) {
        (void)close(opening->fd);
    }
}

// The journal's thread may log meanwhile, so that the sink stays where it is.
void log_output_adopt(struct log_output *output, const struct log_opening *opening)
{
    ENSURE(output->writer);
    log_writer_change(output->writer, opening->fd, &opening->look);
    log_set_most(opening->level);
    output->fd = opening->fd;
    output->made = opening->made;
}

static bool output_begin(struct log_output *output, const struct log_opening *opening)
{
    output->writer = log_writer_new(opening->fd, &opening->look);
    if (!output->writer) {
        return false;
    }
    log_set_sink(output_line, output, opening->level);
    log_set_drain(output_drain);
    output->fd = opening->fd;
    output->made = opening->made;
    return true;
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
    } else if (!output_begin(output, &opening)) {
        log_output_discard(&opening);
        return error_set(why, "out of memory or threads");
    }
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
