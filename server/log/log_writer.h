/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LOG_LOG_WRITER_H
#define TANDEM_SERVER_LOG_LOG_WRITER_H

// The thread that writes log lines. A reader of the log may stop reading, and a disk may hang. The
// event loop must not wait for them, so it only copies its lines into a bounded backlog. If the
// backlog is full, lines are dropped and counted, and a later line reports their number. A crash of
// the process loses the lines in the backlog.
//
// A datagram for the system log that cannot be sent is sent again on a new connection, because the
// daemon that receives them may have restarted.
//
// Non-blocking descriptors are not an alternative: standard error is shared with the process that
// started us, and writing to a regular file blocks anyway.

#include "core/base/macros.h"
#include "server/log/log_line.h"

#include <stdbool.h>

enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

// The most bytes of lines that wait to be written.
#define LOG_BACKLOG ((size_t)256 * 1024)

struct log_writer;

// The format of lines, and whether each is a datagram for the system log.
struct log_style {
    enum log_format format;
    char syslog[108]; // the path of its socket; empty: lines go to a file
};

// Writes the event as a line. Returns its length, at most LOG_LINE_MAX.
size_t log_line_of(const struct log_event *event, const struct log_style *style,
                   char line[LOG_LINE_MAX]);

// Starts a thread that writes to `fd`, and closes it at the end unless it is standard error. NULL
// without memory or a thread; the caller still owns `fd` then.
struct log_writer *log_writer_new(int fd, const struct log_style *style) MUST_USE;

// The format of lines that are put now.
void log_writer_style(struct log_writer *writer, struct log_style *style);

// Queues a line of 1 to LOG_LINE_MAX bytes, or drops it. Does not wait for the disk or a reader.
void log_writer_put(struct log_writer *writer, const char *line, size_t len);

// Writes new lines to `fd`, which the writer owns now; lines that wait still go to the old file.
// `style` is also the format of the line that reports dropped lines.
void log_writer_change(struct log_writer *writer, int fd, const struct log_style *style);

// Waits for at most two seconds until all lines are written. False if some are not.
bool log_writer_drain(struct log_writer *writer);

// The same, and ends the thread. If the thread hangs in a write, it keeps running with its memory,
// because the process is about to end. NULL is allowed.
void log_writer_free(struct log_writer *writer);

#endif
