/* SPDX-License-Identifier: MIT */
#include "ctl/api/events.h"

#include "ctl/api/client.h"

// Gets the value of a line if it has that field; false otherwise.
static bool is_field(struct slice line, struct slice field, struct slice *value)
{
    if (line.len <= field.len || memcmp(line.ptr, field.ptr, field.len) != 0 ||
        line.ptr[field.len] != ':') {
        return false;
    }
    *value = slice_from(line, field.len + 1);
    if (value->len > 0 && *value->ptr == ' ') {
        *value = slice_from(*value, 1);
    }
    return true;
}

static bool take_event_line(struct events *events, struct slice line)
{
    struct slice value;

    if (line.len > 0 && line.ptr[line.len - 1] == '\r') {
        line.len--;
    }
    if (line.len == 0) {
        // An empty line ends an event. Events without data are ignored.
        struct slice name = events->name.len ? text_slice(&events->name) : SLICE("message");
        bool more =
            !events->has_data || events->each(events->context, name, text_slice(&events->data));

        text_cut(&events->name, 0);
        text_cut(&events->data, 0);
        events->has_data = false;
        return more;
    }
    if (is_field(line, SLICE("event"), &value)) {
        text_cut(&events->name, 0);
        text_add(&events->name, value);
    } else if (is_field(line, SLICE("data"), &value)) {
        if (events->has_data) {
            text_put_char(&events->data, '\n');
        }
        text_add(&events->data, value);
        events->has_data = true;
    }
    return true;
}

bool events_feed(struct events *events, struct slice bytes)
{
    while (bytes.len > 0) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t len = end ? (size_t)(end - bytes.ptr) : bytes.len;

        events->overflowed = events->line.len + events->data.len + len > ANSWER_MAX;
        if (events->overflowed) {
            return false;
        }
        text_add(&events->line, slice_of(bytes.ptr, len));
        bytes = slice_from(bytes, end ? len + 1 : len);
        if (end) {
            bool more = take_event_line(events, text_slice(&events->line));

            text_cut(&events->line, 0);
            if (!more) {
                return false;
            }
        }
    }
    return true;
}

void events_free(struct events *events)
{
    text_free(&events->line);
    text_free(&events->name);
    text_free(&events->data);
}
