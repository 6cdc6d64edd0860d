/* SPDX-License-Identifier: MIT */
#include "proto_http/event_queue.h"

#include "core/base/memory.h"
#include "http1/http1_answer.h"
#include "proto_common/json_body.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Bytes of data that are checked, or written, in a slice: the latter is a multiple of 3, so that
// its base64 needs no padding.
#define CHECKED_AT_ONCE ((size_t)16 * 1024)
#define WRITTEN_AT_ONCE ((size_t)3 * 1024)
// The longest lines before the data: the number and the name of an event.
#define LINES_MAX 160

struct web_event {
    struct web_event *next;
    const char *name;
    char *text;        // owned
    struct blob *data; // a reference; NULL: only the text
    uint64_t position;
    size_t checked; // bytes of the data that are valid UTF-8
    size_t written; // bytes of the data that are written
    bool begun;
    bool binary;
};

// The text is allocated by malloc, which does not report sizes.
static size_t text_size(const struct web_event *event)
{
    return strlen(event->text) + 1;
}

static void free_event(struct web_event *event)
{
    blob_unref(event->data);
    memory_uncount(text_size(event));
    free(event->text);
    memory_free(event, sizeof *event);
}

static size_t size_of(const struct web_event *event)
{
    return sizeof *event + text_size(event) + (event->data ? event->data->len : 0);
}

void web_events_write(struct web_events *events, struct output *out, const char *name,
                      const char *text)
{
    http1_event(out, events->chunked, ++events->written, name, slice_str(text));
}

bool web_events_add(struct web_events *events, const char *name, char *text, struct blob *data,
                    uint64_t position)
{
    struct web_event *event = text ? memory_alloc(sizeof *event) : NULL;

    if (!event) {
        free(text);
        return false;
    }
    *event = (struct web_event){
        .name = name, .text = text, .data = data ? blob_ref(data) : NULL, .position = position};
    memory_count(text_size(event));
    if (events->last) {
        events->last->next = event;
    } else {
        events->first = event;
    }
    events->last = event;
    events->waiting += size_of(event);
    return true;
}

static void drop_first(struct web_events *events)
{
    struct web_event *first = events->first;

    events->waiting -= size_of(first);
    events->first = first->next;
    if (!events->first) {
        events->last = NULL;
    }
    free_event(first);
}

static void write_piece(const struct web_events *events, struct output *out, struct slice piece)
{
    http1_piece(out, events->chunked, &piece, 1);
}

// Writes the event up to the start of the string with the data.
static void begin(struct web_events *events, struct output *out, struct web_event *event)
{
    char lines[LINES_MAX];
    int len = snprintf(lines, sizeof lines, "id: %" PRIu64 "\nevent: %s\ndata: ", ++events->written,
                       event->name);
    size_t text_len = strlen(event->text);

    ENSURE(len > 0 && (size_t)len < sizeof lines && text_len > 2);
    http1_piece(out, events->chunked,
                (const struct slice[]){slice_of(lines, (size_t)len),
                                       slice_of(event->text, text_len - 1), SLICE(",\"data\":\"")},
                3);
    event->begun = true;
}

static void write_data(const struct web_events *events, struct output *out, struct web_event *event)
{
    char room[WRITTEN_AT_ONCE * JSON_ESCAPED_MAX];
    struct slice rest = slice_from(blob_slice(event->data), event->written);
    struct slice part = {rest.ptr, rest.len < WRITTEN_AT_ONCE ? rest.len : WRITTEN_AT_ONCE};
    size_t len = event->binary ? json_base64(room, part) : json_escape(room, part);

    event->written += part.len;
    write_piece(events, out, slice_of(room, len));
}

void web_events_step(struct web_events *events, struct output *out)
{
    struct web_event *event = events->first;
    size_t len = event->data ? event->data->len : 0;

    if (!event->data) {
        output_hold(out, event->position);
        web_events_write(events, out, event->name, event->text);
        drop_first(events);
    } else if (event->checked < len && !event->binary) {
        event->binary = !json_check_utf8(blob_slice(event->data), &event->checked, CHECKED_AT_ONCE);
    } else if (!event->begun) {
        output_hold(out, event->position);
        begin(events, out, event);
    } else if (event->written < len) {
        write_data(events, out, event);
    } else {
        write_piece(events, out,
                    event->binary ? SLICE("\",\"encoding\":\"base64\"}\n\n") : SLICE("\"}\n\n"));
        drop_first(events);
    }
}

void web_events_clear(struct web_events *events)
{
    while (events->first) {
        drop_first(events);
    }
}
