/* SPDX-License-Identifier: MIT */
#include "server/log/log_line.h"

#include <jansson.h>
#include <stdio.h>

// How much of one field is kept. Of a line that is too long all the same, since many bytes are
// escaped or there are many fields, half as much of each, as often as it takes.
enum { FIELD_MAX = 512 };

// The text with all but printable ASCII written as \xNN, for bytes that no JSON string can hold.
static json_t *json_escaped(struct slice text)
{
    char escaped[4 * FIELD_MAX + 1];
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
    // A character of several bytes that was cut is left out.
    for (size_t cut = 1; !value && text.len < field->text.len && cut < 4 && cut < text.len; cut++) {
        value = json_stringn(text.ptr, text.len - cut);
    }
    return value ? value : json_escaped(text);
}

// The line's length without its end, which may be more than there is room for; 0 without memory.
static size_t write_json(const struct log_event *event, size_t most, char line[LOG_LINE_MAX])
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
    size_t most = FIELD_MAX;
    size_t len = write_json(event, most, line);

    while (len > LOG_LINE_MAX - 1 && most > 0) {
        most /= 2;
        len = write_json(event, most, line);
    }
    if (len == 0 || len > LOG_LINE_MAX - 1) {
        return 0;
    }
    line[len++] = '\n';
    return len;
}
