/* SPDX-License-Identifier: MIT */
#include "server/log/log_line.h"

#include <jansson.h>
#include <stdio.h>

// How much of one field is kept: a line has room for a few such, even if each byte is escaped.
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

static json_t *json_field(const struct log_field *field)
{
    struct slice text = field->text;
    json_t *value;

    if (!field->is_text) {
        return json_integer(field->number);
    }
    if (text.len > FIELD_MAX) {
        text.len = FIELD_MAX;
    }
    value = json_stringn(text.ptr, text.len);
    return value ? value : json_escaped(text);
}

size_t log_line_json(const struct log_event *event, char line[LOG_LINE_MAX])
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
        failed |= json_object_set_new(object, event->fields[i].key, json_field(&event->fields[i]));
    }
    if (!failed) {
        len = json_dumpb(object, line, LOG_LINE_MAX - 1, JSON_COMPACT | JSON_ENSURE_ASCII);
    }
    json_decref(object);
    if (len == 0 || len > LOG_LINE_MAX - 1) {
        return 0;
    }
    line[len++] = '\n';
    return len;
}
