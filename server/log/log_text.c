/* SPDX-License-Identifier: MIT */
#include "server/log/log_line.h"

#include "core/base/macros.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

// A line in the making. It is cut where it reaches the end of its room.
struct line {
    char *bytes;
    size_t len;
    size_t room;
};

const char *log_level_name(enum log_level level)
{
    switch (level) {
    case LOG_LEVEL_ERROR:
        return "error";
    case LOG_LEVEL_WARN:
        return "warn";
    case LOG_LEVEL_INFO:
        return "info";
    case LOG_LEVEL_DEBUG:
        return "debug";
    }
    UNREACHABLE();
}

void log_time(nsec_t wall_at, char *text, size_t room)
{
    time_t seconds = (time_t)(wall_at / NSEC_PER_SEC);
    int millis = (int)(wall_at % NSEC_PER_SEC / NSEC_PER_MSEC);
    struct tm utc = {0};
    size_t len;

    (void)gmtime_r(&seconds, &utc);
    len = strftime(text, room, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(text + len, room - len, ".%03dZ", millis);
}

static void line_char(struct line *line, char c)
{
    if (line->len < line->room) {
        line->bytes[line->len++] = c;
    }
}

static void line_string(struct line *line, const char *text)
{
    while (*text) {
        line_char(line, *text++);
    }
}

static bool is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-_.:/,;+*@%()[]<>&^~|$#!?", c));
}

static void line_escaped(struct line *line, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";

    if (c == '"' || c == '\\') {
        line_char(line, '\\');
        line_char(line, (char)c);
    } else if (c >= 0x20 && c < 0x7f) {
        line_char(line, (char)c);
    } else {
        line_string(line, "\\x");
        line_char(line, hex[c >> 4]);
        line_char(line, hex[c & 15]);
    }
}

static void line_text(struct line *line, struct slice text)
{
    bool plain = text.len > 0;

    for (size_t i = 0; i < text.len && plain; i++) {
        plain = is_plain((unsigned char)text.ptr[i]);
    }
    if (!plain) {
        line_char(line, '"');
    }
    for (size_t i = 0; i < text.len && line->len < line->room; i++) {
        line_escaped(line, (unsigned char)text.ptr[i]);
    }
    if (!plain) {
        line_char(line, '"');
    }
}

static void line_number(struct line *line, int64_t number)
{
    char digits[24];

    (void)snprintf(digits, sizeof digits, "%" PRId64, number);
    line_string(line, digits);
}

size_t log_line_text(const struct log_event *event, char bytes[LOG_LINE_MAX])
{
    struct line line = {.bytes = bytes, .room = LOG_LINE_MAX - 1};
    char when[48];

    log_time(event->wall_at, when, sizeof when);
    line_string(&line, when);
    line_char(&line, ' ');
    line_string(&line, log_level_name(event->level));
    line_char(&line, ' ');
    line_string(&line, event->name);
    for (size_t i = 0; i < event->count; i++) {
        const struct log_field *field = &event->fields[i];

        line_char(&line, ' ');
        line_string(&line, field->key);
        line_char(&line, '=');
        if (field->is_text) {
            line_text(&line, field->text);
        } else {
            line_number(&line, field->number);
        }
    }
    bytes[line.len++] = '\n';
    return line.len;
}
