/* SPDX-License-Identifier: MIT */
// pthread_setname_np is a GNU function.
#define _GNU_SOURCE
#include "server/log/log_writer.h"

#include "server/log/log_syslog.h"
#include "server/process/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The time that lines may take to be written when the process ends.
enum { DRAIN_SECONDS = 2 };

// In the backlog, before each line.
struct line_head {
    uint32_t len;
    uint32_t stands; // the number of lines that are lost if this one cannot be written: more than
                     // 1 for a line that reports dropped lines
};

struct log_writer {
    pthread_t thread;
    pthread_mutex_t mutex;  // of the following fields
    pthread_cond_t wanted;  // there is work for the thread
    pthread_cond_t written; // no work is left
    int fd;
    int next_fd;      // the file to change to; -1: none
    size_t change_at; // the position in the backlog of the change
    struct log_style style;
    struct log_style next_style; // with next_fd
    bool busy;                   // the thread is writing
    bool closing;
    uint64_t dropped; // lines after those in the backlog
    uint64_t failed;  // lines that could not be written; reported with the next line
    size_t first;     // positions in the backlog, which only grow; 0 again when it is empty
    size_t last;
    char bytes[LOG_BACKLOG];
};

// As text if there is no memory for JSON.
static size_t log_line_formatted(const struct log_event *event, enum log_format format,
                                 char line[LOG_LINE_MAX])
{
    size_t len = format == LOG_FORMAT_JSON ? log_line_json(event, line) : 0;

    return len ? len : log_line_text(event, line);
}

size_t log_line_of(const struct log_event *event, const struct log_style *style,
                   char line[LOG_LINE_MAX])
{
    char text[LOG_LINE_MAX];

    if (style->syslog[0] == '\0') {
        return log_line_formatted(event, style->format, line);
    }
    return log_syslog_line(event, text, log_line_formatted(event, style->format, text), line);
}

// The format of the newest lines.
static const struct log_style *writer_last_style(const struct log_writer *writer)
{
    return writer->next_fd >= 0 ? &writer->next_style : &writer->style;
}

static size_t dropped_line(uint64_t dropped, const struct log_style *style, char line[LOG_LINE_MAX])
{
    const struct log_field count = log_number("lines", (int64_t)dropped);
    const struct log_event event = {.wall_at = clock_now().wall,
                                    .level = LOG_LEVEL_WARN,
                                    .name = "log_lines_dropped",
                                    .fields = &count,
                                    .count = 1};

    return log_line_of(&event, style, line);
}

static void backlog_add(struct log_writer *writer, const void *bytes, size_t len)
{
    size_t at = writer->last % LOG_BACKLOG;
    size_t whole = len < LOG_BACKLOG - at ? len : LOG_BACKLOG - at;

    memcpy(writer->bytes + at, bytes, whole);
    memcpy(writer->bytes, (const char *)bytes + whole, len - whole);
    writer->last += len;
}

static void backlog_take(struct log_writer *writer, void *bytes, size_t len)
{
    size_t at = writer->first % LOG_BACKLOG;
    size_t whole = len < LOG_BACKLOG - at ? len : LOG_BACKLOG - at;

    memcpy(bytes, writer->bytes + at, whole);
    memcpy((char *)bytes + whole, writer->bytes, len - whole);
    writer->first += len;
}

// Queues a line; false if there is no room. `stands` as in line_head.
static bool backlog_put(struct log_writer *writer, const char *line, size_t len, uint64_t stands)
{
    const struct line_head head = {.len = (uint32_t)len,
                                   .stands = stands < UINT32_MAX ? (uint32_t)stands : UINT32_MAX};

    if (writer->last - writer->first + sizeof head + len > LOG_BACKLOG) {
        return false;
    }
    backlog_add(writer, &head, sizeof head);
    backlog_add(writer, line, len);
    return true;
}

// Takes the next line. When the backlog is empty, its positions start at 0 again, so that a short
// backlog touches little memory.
static struct line_head backlog_next(struct log_writer *writer, char line[LOG_LINE_MAX])
{
    struct line_head head;

    backlog_take(writer, &head, sizeof head);
    backlog_take(writer, line, head.len);
    if (writer->first == writer->last && writer->next_fd < 0) {
        writer->first = 0;
        writer->last = 0;
    }
    return head;
}

static bool log_write_all(int fd, const char *line, size_t len)
{
    size_t sent = 0;

    while (sent < len) {
        ssize_t n = write(fd, line + sent, len - sent);

        if (n >= 0) {
            sent += (size_t)n;
        } else if (errno == EAGAIN) {
            struct pollfd waiting = {.fd = fd, .events = POLLOUT};

            (void)poll(&waiting, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static void log_close_file(int fd)
{
    if (fd != STDERR_FILENO) {
        (void)close(fd);
    }
}

// Writes a line without the lock.
static void writer_write(struct log_writer *writer, const char *line, size_t len, uint64_t stands)
{
    const struct log_style style = writer->style;
    int fd = writer->fd;
    bool good;

    writer->busy = true;
    (void)pthread_mutex_unlock(&writer->mutex);
    good = log_write_all(fd, line, len) ||
           (style.syslog[0] && log_syslog_join(fd, style.syslog) && log_write_all(fd, line, len));
    (void)pthread_mutex_lock(&writer->mutex);
    writer->busy = false;
    writer->failed += good ? 0 : stands;
}

static void writer_change_over(struct log_writer *writer)
{
    int former = writer->fd;

    writer->fd = writer->next_fd;
    writer->style = writer->next_style;
    writer->next_fd = -1;
    writer->busy = true;
    (void)pthread_mutex_unlock(&writer->mutex);
    log_close_file(former);
    (void)pthread_mutex_lock(&writer->mutex);
    writer->busy = false;
}

// Does one piece of work; false if there is none.
static bool writer_step(struct log_writer *writer)
{
    char line[LOG_LINE_MAX];
    uint64_t dropped = writer->dropped;

    if (writer->next_fd >= 0 && writer->first >= writer->change_at) {
        writer_change_over(writer);
    } else if (writer->first != writer->last) {
        struct line_head head = backlog_next(writer, line);

        writer_write(writer, line, head.len, head.stands);
    } else if (dropped > 0) {
        writer->dropped = 0;
        writer_write(writer, line, dropped_line(dropped, writer_last_style(writer), line), dropped);
    } else {
        return false;
    }
    return true;
}

static void *writer_run(void *context)
{
    struct log_writer *writer = context;

    (void)pthread_mutex_lock(&writer->mutex);
    for (;;) {
        while (writer_step(writer)) {
        }
        (void)pthread_cond_broadcast(&writer->written);
        if (writer->closing) {
            break;
        }
        (void)pthread_cond_wait(&writer->wanted, &writer->mutex);
    }
    (void)pthread_mutex_unlock(&writer->mutex);
    return NULL;
}

static bool writer_start(struct log_writer *writer)
{
    sigset_t all;
    sigset_t before;
    int error;

    // Signals are for the loop.
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&writer->thread, NULL, writer_run, writer);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        (void)pthread_setname_np(writer->thread, "tandem-log");
    }
    return error == 0;
}

// Timed waits use a clock that is never set.
static void writer_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;

    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(cond, &attr);
    (void)pthread_condattr_destroy(&attr);
}

static void writer_destroy(struct log_writer *writer)
{
    (void)pthread_cond_destroy(&writer->written);
    (void)pthread_cond_destroy(&writer->wanted);
    (void)pthread_mutex_destroy(&writer->mutex);
    free(writer);
}

struct log_writer *log_writer_new(int fd, const struct log_style *style)
{
    struct log_writer *writer = calloc(1, sizeof *writer);

    if (!writer) {
        return NULL;
    }
    writer->fd = fd;
    writer->next_fd = -1;
    writer->style = *style;
    (void)pthread_mutex_init(&writer->mutex, NULL);
    writer_cond_init(&writer->wanted);
    writer_cond_init(&writer->written);
    if (!writer_start(writer)) {
        writer_destroy(writer);
        return NULL;
    }
    return writer;
}

// Queues a line that reports the dropped lines, but only when half of the backlog is free:
// otherwise many such lines would take the room that other lines need.
static bool writer_report_dropped(struct log_writer *writer)
{
    uint64_t dropped = writer->dropped + writer->failed;
    char line[LOG_LINE_MAX];

    if (dropped == 0) {
        return true;
    }
    if (writer->last - writer->first > LOG_BACKLOG / 2 ||
        !backlog_put(writer, line, dropped_line(dropped, writer_last_style(writer), line),
                     dropped)) {
        return false;
    }
    writer->dropped = 0;
    writer->failed = 0;
    return true;
}

void log_writer_style(struct log_writer *writer, struct log_style *style)
{
    (void)pthread_mutex_lock(&writer->mutex);
    *style = *writer_last_style(writer);
    (void)pthread_mutex_unlock(&writer->mutex);
}

void log_writer_put(struct log_writer *writer, const char *line, size_t len)
{
    ENSURE(len > 0 && len <= LOG_LINE_MAX);
    (void)pthread_mutex_lock(&writer->mutex);
    if (!writer_report_dropped(writer) || !backlog_put(writer, line, len, 1)) {
        writer->dropped++;
    }
    (void)pthread_cond_signal(&writer->wanted);
    (void)pthread_mutex_unlock(&writer->mutex);
}

void log_writer_change(struct log_writer *writer, int fd, const struct log_style *style)
{
    (void)pthread_mutex_lock(&writer->mutex);
    if (writer->next_fd >= 0) {
        // The last change is still pending: the lines that wait for it go to the new file.
        log_close_file(writer->next_fd);
    } else {
        writer->change_at = writer->last;
    }
    writer->next_fd = fd;
    writer->next_style = *style;
    (void)pthread_cond_signal(&writer->wanted);
    (void)pthread_mutex_unlock(&writer->mutex);
}

static bool writer_is_idle(const struct log_writer *writer)
{
    return !writer->busy && writer->first == writer->last && writer->dropped == 0;
}

// Waits with the lock held, for DRAIN_SECONDS at most.
static bool writer_await(struct log_writer *writer, bool (*done)(const struct log_writer *writer))
{
    struct timespec until;
    int error = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += DRAIN_SECONDS;
    while (!done(writer) && error == 0) {
        error = pthread_cond_timedwait(&writer->written, &writer->mutex, &until);
    }
    return done(writer);
}

bool log_writer_drain(struct log_writer *writer)
{
    bool good;

    (void)pthread_mutex_lock(&writer->mutex);
    good = writer_await(writer, writer_is_idle);
    (void)pthread_mutex_unlock(&writer->mutex);
    return good;
}

static bool writer_has_ended(const struct log_writer *writer)
{
    return writer->closing && writer_is_idle(writer);
}

void log_writer_free(struct log_writer *writer)
{
    bool ended;

    if (!writer) {
        return;
    }
    (void)pthread_mutex_lock(&writer->mutex);
    writer->closing = true;
    (void)pthread_cond_signal(&writer->wanted);
    ended = writer_await(writer, writer_has_ended);
    (void)pthread_mutex_unlock(&writer->mutex);
    if (!ended) {
        (void)pthread_detach(writer->thread);
        return;
    }
    (void)pthread_join(writer->thread, NULL);
    log_close_file(writer->fd);
    writer_destroy(writer);
}
