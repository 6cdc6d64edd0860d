/* SPDX-License-Identifier: MIT */
#include "server/log_output.h"

#include "server/clock.h"
#include "server/log_line.h"
#include "server/place.h"

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

// What lines can be appended to.
static bool is_log(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 &&
           (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode));
}

// -1 with the reason in `why`.
static int open_file(const char *path, bool *made, struct complaint *why)
{
    struct place place;
    int fd = -1;

    if (place_find(&place, path, true, why)) {
        // A pipe that nobody reads is an error, not something to wait for.
        fd = place_open(&place, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY, 0640, made, why);
        place_close(&place);
    }
    if (fd >= 0 && !is_log(fd)) {
        complaint_set(why, "there is something else than a file");
        (void)close(fd);
        fd = -1;
    }
    if (fd < 0) {
        complaint_wrap(why, "log_file %s: ", path);
    }
    return fd;
}

bool log_output_open(struct log_output *output, const char *path, enum log_format format,
                     enum log_level level, struct complaint *why)
{
    bool made = false;
    int fd = *path ? open_file(path, &made, why) : STDERR_FILENO;

    if (fd < 0) {
        return false;
    }
    if (output->fd != STDERR_FILENO) {
        (void)close(output->fd);
    }
    output->fd = fd;
    output->made = made;
    output->format = format;
    log_set_sink(output_line, output, level);
    return true;
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
    if (output->fd != STDERR_FILENO) {
        (void)close(output->fd);
        output->fd = STDERR_FILENO;
    }
}
