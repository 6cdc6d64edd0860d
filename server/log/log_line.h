/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LOG_LOG_LINE_H
#define TANDEM_SERVER_LOG_LOG_LINE_H

// The two looks of a log line. Both are pure: an event in, bytes out. Whatever a peer put into a
// field comes out as printable ASCII without line breaks, so that nobody can forge a line or play
// tricks on a terminal.

#include "core/base/log.h"
#include "core/base/nsec.h"

#include <stddef.h>

struct log_event {
    nsec_t wall_at;
    enum log_level level;
    const char *name;
    const struct log_field *fields;
    size_t count;
};

// Room for any line that matters; what is longer is cut.
#define LOG_LINE_MAX 4096

const char *log_level_name(enum log_level level);

// The moment in UTC, as in 2026-01-31T09:15:00.250Z. `room` is at least 32.
void log_time(nsec_t wall_at, char *text, size_t room);

// `time level event key=value ...`. A value with anything but letters, digits and a few marks
// stands in double quotes; what is not printable ASCII is \xNN. Returns the length, line end
// included, at most LOG_LINE_MAX.
size_t log_line_text(const struct log_event *event, char line[LOG_LINE_MAX]);

// One JSON object with time, level, event and the fields. Bytes that are not UTF-8 are \xNN in
// the string. Values are cut so that it fits. 0 without memory.
size_t log_line_json(const struct log_event *event, char line[LOG_LINE_MAX]);

#endif
