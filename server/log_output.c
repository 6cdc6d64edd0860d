/* SPDX-License-Identifier: MIT */
#include "server/log_output.h"

#include "server/clock.h"
#include "server/log_line.h"

#include <errno.h>
#include <fcntl.h>
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
    char line[LOG_LINE_MAX];
    size_t len = output->format == LOG_FORMAT_JSON ? log_line_json(&event, line) : 0;
    int saved = errno;
    ssize_t ignored;

    if (len == 0) {
        len = log_line_text(&event, line);
    }
    do {
        ignored = write(output->fd, line, len);
    } while (ignored < 0 && errno == EINTR);
    errno = saved;
}

void log_output_init(struct log_output *output, enum log_level level)
{
    *output = (struct log_output){.fd = STDERR_FILENO, .format = LOG_FORMAT_TEXT};
    log_set_sink(output_line, output, level);
}

bool log_output_open(struct log_output *output, const char *path, enum log_format format,
                     enum log_level level, struct complaint *why)
{
    int fd = STDERR_FILENO;

    if (*path) {
        // A pipe that nobody reads is an error, not something to wait for.
        fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0640);
        if (fd < 0) {
            complaint_set(why, "log_file %s: %s", path, strerror(errno));
            return false;
        }
    }
    if (output->fd != STDERR_FILENO) {
        (void)close(output->fd);
    }
    output->fd = fd;
    output->format = format;
    log_set_sink(output_line, output, level);
    return true;
}

void log_output_give(const struct log_output *output, uid_t uid, gid_t gid)
{
    struct stat st;

    // A file with further names, or of somebody else, is not ours to give.
    if (output->fd != STDERR_FILENO && fstat(output->fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_nlink == 1 && st.st_uid == geteuid()) {
        int ignored = fchown(output->fd, uid, gid);

        (void)ignored;
    }
}

void log_output_close(struct log_output *output)
{
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    if (output->fd != STDERR_FILENO) {
        (void)close(output->fd);
        output->fd = STDERR_FILENO;
    }
}
