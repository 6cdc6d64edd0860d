/* SPDX-License-Identifier: MIT */
#include "server/log/log_line.h"

#include "core/base/macros.h"

#include <jansson.h>

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

// A line under construction, truncated at the end of its room.
struct text_line {
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

static void line_char(struct text_line *line, char c)
{
    if (line->len < line->room) {
        line->bytes[line->len++] = c;
    }
}

static void line_string(struct text_line *line, const char *text)
{
    while (*text) {
        line_char(line, *text++);
    }
}

// Whether the character may be in a value without quotes.
static bool line_is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-_.:/,;+*@%()[]<>&^~|$#!?", c));
}

static void line_escaped(struct text_line *line, unsigned char c)
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

static void line_text(struct text_line *line, struct slice text)
{
    bool plain = text.len > 0;

    for (size_t i = 0; i < text.len && plain; i++) {
        plain = line_is_plain((unsigned char)text.ptr[i]);
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

size_t log_line_text(const struct log_event *event, char bytes[LOG_LINE_MAX])
{
    struct text_line line = {.bytes = bytes, .room = LOG_LINE_MAX - 1};
    char when[48];
    char digits[24];

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
            (void)snprintf(digits, sizeof digits, "%" PRId64, field->number);
            line_string(&line, digits);
        }
    }
    bytes[line.len++] = '\n';
    return line.len;
}

// The most bytes of a field in JSON. If the line is still too long, because of many fields or
// escapes, the limit is halved until the line fits.
enum { JSON_FIELD_MAX = 512 };

// The text with all bytes except printable ASCII written as \xNN. A JSON string cannot hold bytes
// that are not UTF-8.
static json_t *json_escaped(struct slice text)
{
    char escaped[4 * JSON_FIELD_MAX + 1];
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c >= 0x20 && c < 0x7f) {
            escaped[len++] = (char)c;
        } else {
            len += (size_t)snprintf(escaped + len, sizeof escaped - len, "\\x%02x", c);
        }
    }
    return json_stringn(escaped, len);
}

static json_t *json_field(const struct log_field *field, size_t most)
{
    struct slice text = field->text;
    json_t *value;

    if (!field->is_text) {
        return json_integer(field->number);
    }
    if (text.len > most) {
        text.len = most;
    }
    value = json_stringn(text.ptr, text.len);
    // Leaves out a character of several bytes that was cut.
    for (size_t cut = 1; !value && text.len < field->text.len && cut < 4 && cut < text.len; cut++) {
        value = json_stringn(text.ptr, text.len - cut);
    }
    return value ? value : json_escaped(text);
}

// Returns the length of the line without its end, which may exceed the room; 0 without memory.
static size_t line_write_json(const struct log_event *event, size_t most, char line[LOG_LINE_MAX])
{
    char when[48];
    json_t *object = json_object();
    size_t len = 0;
    int failed = !object;

    log_time(event->wall_at, when, sizeof when);
    if (object) {
        failed |= json_object_set_new(object, "time", json_string(when));
        failed |= json_object_set_new(object, "level", json_string(log_level_name(event->level)));
        failed |= json_object_set_new(object, "event", json_string(event->name));
    }
    for (size_t i = 0; i < event->count && !failed; i++) {
        failed |=
            json_object_set_new(object, event->fields[i].key, json_field(&event->fields[i], most));
    }
    if (!failed) {
        len = json_dumpb(object, line, LOG_LINE_MAX - 1, JSON_COMPACT | JSON_ENSURE_ASCII);
    }
    json_decref(object);
    return len;
}

size_t log_line_json(const struct log_event *event, char line[LOG_LINE_MAX])
{
    size_t most = JSON_FIELD_MAX;
    size_t len = line_write_json(event, most, line);

    while (len > LOG_LINE_MAX - 1 && most > 0) {
        most /= 2;
        len = line_write_json(event, most, line);
    }
    if (len == 0 || len > LOG_LINE_MAX - 1) {
        return 0;
    }
    line[len++] = '\n';
    return len;
}
