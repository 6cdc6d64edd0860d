/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LOG_LOG_LINE_H
#define TANDEM_SERVER_LOG_LOG_LINE_H

#include "core/base/log.h"
#include "core/base/nsec.h"

#include <stddef.h>

// The two formats of a log line, text and JSON. Bytes in a field that come from a peer are written
// as printable ASCII without line breaks, so that a peer cannot forge a line or control a terminal.

struct log_event {
    nsec_t wall_at;
    enum log_level level;
    const char *name;
    const struct log_field *fields;
    size_t count;
};

// The longest line; longer ones are truncated.
#define LOG_LINE_MAX 4096

const char *log_level_name(enum log_level level);

// Writes the time in UTC, such as 2026-01-31T09:15:00.250Z. `room` is at least 32.
void log_time(nsec_t wall_at, char *text, size_t room);

// Writes `time level event key=value ...`. A value with other characters than letters, digits and
// some punctuation is put in double quotes; bytes that are not printable ASCII become \xNN. Returns
// the length with the line end, at most LOG_LINE_MAX.
size_t log_line_text(const struct log_event *event, char line[LOG_LINE_MAX]);

// Writes a JSON object with time, level, event and the fields. If a value is not UTF-8, its
// non-ASCII bytes become \xNN. Values are truncated so that the line fits. Returns the length with
// the line end; 0 without memory.
size_t log_line_json(const struct log_event *event, char line[LOG_LINE_MAX]);

#endif
