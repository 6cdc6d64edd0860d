/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LOG_LOG_WRITER_H
#define TANDEM_SERVER_LOG_LOG_WRITER_H

// The thread that writes log lines. Whoever reads them may stop to, a disk may hang: that must not
// stop the event loop, which only copies its lines into a bounded backlog. Where that is full,
// lines are dropped and counted, and a line says how many once others can be written again. Lines
// in the backlog are lost where the process crashes.
//
// Where lines are datagrams for the system's log, one that cannot be sent is tried once more: the
// daemon that takes them may have been started anew.
//
// (A descriptor that does not block would not do: standard error is shared with whoever started us,
// and a regular file blocks all the same.)

#include "core/base/macros.h"
#include "server/log/log_line.h"

#include <stdbool.h>

enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

// Bytes of lines that may wait to be written.
#define LOG_BACKLOG ((size_t)256 * 1024)

struct log_writer;

// How lines look, and whether each of them is a datagram for the system's log.
struct log_look {
    enum log_format format;
    char syslog[108]; // the path of its socket; empty: a line is one of a file
};

// Writes the event as a line of that look; returns its length, at most LOG_LINE_MAX.
size_t log_line_of(const struct log_event *event, const struct log_look *look,
                   char line[LOG_LINE_MAX]);

// Starts to write to `fd`, which is closed in the end unless it is standard error. NULL without
// memory or a thread; `fd` is still the caller's then.
struct log_writer *log_writer_new(int fd, const struct log_look *look) MUST_USE;

// The look of lines that are put now.
void log_writer_look(struct log_writer *writer, struct log_look *look);

// Takes a line of 1 to LOG_LINE_MAX bytes, or drops it. Does not wait for the disk or a reader.
void log_writer_put(struct log_writer *writer, const char *line, size_t len);

// Lines from now on go to `fd`, which is taken over; those that wait still go to where they went.
// The look is that of the line that tells how many were dropped.
void log_writer_change(struct log_writer *writer, int fd, const struct log_look *look);

// Waits until all lines are written, but not for long. False where some are not.
bool log_writer_drain(struct log_writer *writer);

// The same, and ends the thread. Where it hangs in a write it is left alone, with what it needs:
// the process is about to end. NULL is allowed.
void log_writer_free(struct log_writer *writer);

#endif
