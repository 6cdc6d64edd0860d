/* SPDX-License-Identifier: MIT */
#include "proto_http/stream.h"

#include "core/base/macros.h"
#include "core/base/memory.h"
#include "http1/http1_answer.h"
#include "json/json_body.h"
#include "proto_common/unread.h"

#include "proto_http/web_answer.h"
#include "proto_http/web_request.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A larger event would delay the client's next events for too long.
#define EVENT_MAX ((size_t)256 * 1024)
// A larger event is written in slices.
#define EVENT_SHORT ((size_t)4 * 1024)
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

static size_t event_size(const struct web_event *event)
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
    events->waiting += event_size(event);
    return true;
}

static void drop_first(struct web_events *events)
{
    struct web_event *first = events->first;

    events->waiting -= event_size(first);
    events->first = first->next;
    if (!events->first) {
        events->last = NULL;
    }
    blob_unref(first->data);
    memory_uncount(text_size(first));
    free(first->text);
    memory_free(first, sizeof *first);
}

static void write_piece(const struct web_events *events, struct output *out, struct slice piece)
{
    http1_piece(out, events->chunked, &piece, 1);
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
        // Up to the start of the string with the data.
        size_t text_len = strlen(event->text);
        char lines[LINES_MAX];
        int lines_len =
            snprintf(lines, sizeof lines, "id: %" PRIu64 "\nevent: %s\ndata: ", ++events->written,
                     event->name);

        ENSURE(lines_len > 0 && (size_t)lines_len < sizeof lines && text_len > 2);
        output_hold(out, event->position);
        http1_piece(out, events->chunked,
                    (const struct slice[]){slice_of(lines, (size_t)lines_len),
                                           slice_of(event->text, text_len - 1),
                                           SLICE(",\"data\":\"")},
                    3);
        event->begun = true;
    } else if (event->written < len) {
        char room[WRITTEN_AT_ONCE * JSON_ESCAPED_MAX];
        struct slice rest = slice_from(blob_slice(event->data), event->written);
        struct slice part = {rest.ptr, rest.len < WRITTEN_AT_ONCE ? rest.len : WRITTEN_AT_ONCE};

        event->written += part.len;
        write_piece(
            events, out,
            slice_of(room, event->binary ? json_base64(room, part) : json_escape(room, part)));
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

//
// The stream
//

static void send_with(struct http1_conn *conn, const char *name, json_t *object, struct blob *data)
{
    struct web_events *events = &web_request(conn)->events;
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

    json_decref(object);
    if (!text || data || !web_events_empty(events)) {
        if (!web_events_add(events, name, text, data, web_request(conn)->position)) {
            wire_drop(conn->wire, "no memory for an event");
        }
        return;
    }
    broker_charge_bytes(conn->shared->broker, strlen(text));
    wire_hold(conn->wire, web_request(conn)->position);
    web_events_write(events, &conn->wire->out, name, text);
    free(text);
}

static void send_event(struct http1_conn *conn, const char *name, json_t *object)
{
    send_with(conn, name, object, NULL);
}

// Marks the end of the stream. True: no event is queued.
static bool send_end(struct http1_conn *conn)
{
    web_request(conn)->ends = true;
    if (!web_events_empty(&web_request(conn)->events)) {
        return false;
    }
    http1_pieces_end(&conn->wire->out, web_request(conn)->events.chunked);
    return true;
}

static json_t *about_job(const struct http1_conn *conn)
{
    char handle[HANDLE_MAX];
    char *end = handle_write(&web_shared(conn)->handles, web_request(conn)->job_id, handle);

    return json_pack("{s:s%}", "handle", handle, (size_t)(end - handle));
}

static void send_data(struct http1_conn *conn, const char *name, struct blob *data)
{
    json_t *object = about_job(conn);

    if (data && data->len > EVENT_SHORT) {
        send_with(conn, name, object, data);
        return;
    }
    if (object && !web_data_json(object, data ? blob_slice(data) : SLICE(""))) {
        json_decref(object);
        object = NULL;
    }
    send_event(conn, name, object);
}

static void send_fail(struct http1_conn *conn, const char *why)
{
    json_t *object = about_job(conn);

    if (object && json_object_set_new(object, "error", json_string(why)) != 0) {
        json_decref(object);
        object = NULL;
    }
    send_event(conn, "fail", object);
}

static void send_complete(struct http1_conn *conn, struct blob *data)
{
    if (data && data->len > EVENT_MAX) {
        web_request(conn)->result = WEB_RESULT_TOO_LARGE;
    }
    switch (web_request(conn)->result) {
    case WEB_RESULT_INCOMPLETE:
        send_fail(conn, "incomplete");
        break;
    case WEB_RESULT_TOO_LARGE:
        send_fail(conn, "the result is too large for a stream");
        break;
    case WEB_RESULT_WHOLE:
        send_data(conn, "complete", data);
        break;
    }
}

static void send_progress(struct http1_conn *conn, const struct job_event *event)
{
    json_t *object = about_job(conn);

    if (object && (json_object_set_new(object, "numerator",
                                       json_integer((json_int_t)event->numerator)) != 0 ||
                   json_object_set_new(object, "denominator",
                                       json_integer((json_int_t)event->denominator)) != 0)) {
        json_decref(object);
        object = NULL;
    }
    send_event(conn, "status", object);
}

void web_stream_begin(struct http1_conn *conn)
{
    const struct web_answer answer = {
        .status = 200,
        .job_id = web_request(conn)->job_id,
        .command = "JOB_CREATED",
        .type = "text/event-stream",
        .extra = HTTP1_EVENTS_EXTRA,
    };

    web_request(conn)->events.chunked = web_answer_open(conn, &answer);
    send_event(conn, "created", about_job(conn));
}

// Output that has not left yet shows that the stream is alive, too.
void web_stream_comment(struct http1_conn *conn)
{
    struct web_events *events = &web_request(conn)->events;

    if (web_events_empty(events) && output_pending(&conn->wire->out) == 0) {
        http1_event_comment(&conn->wire->out, events->chunked);
        wire_wake(conn->wire);
    }
}

bool web_stream_timeout(struct http1_conn *conn)
{
    send_event(conn, "timeout", about_job(conn));
    return send_end(conn);
}

bool web_stream_step(struct http1_conn *conn, bool *ended)
{
    struct web_request *request = web_request(conn);

    *ended = false;
    if (web_events_empty(&request->events)) {
        return false;
    }
    web_events_step(&request->events, &conn->wire->out);
    *ended = request->ends && send_end(conn);
    return true;
}

void web_stream_fail(struct http1_conn *conn, const char *why)
{
    bool ended = false;

    if (!web_request(conn)->ends) {
        send_fail(conn, why);
        ended = send_end(conn);
    }
    while (!ended && web_stream_step(conn, &ended)) {
    }
}

bool web_stream_event(struct http1_conn *conn, const struct job_event *event)
{
    if (wire_drop_unread(conn->wire, web_request(conn)->events.waiting,
                         web_shared(conn)->options->max_result)) {
        return false;
    }
    web_request(conn)->position = event->position;
    switch (event->kind) {
    case JOB_EVENT_PROGRESS:
        send_progress(conn, event);
        return false;
    case JOB_EVENT_DATA:
        // Data that is too large for an event is not sent. The result is then incomplete, and the
        // stream must not report the job as complete.
        if (event->data && event->data->len > EVENT_MAX) {
            web_request(conn)->result = WEB_RESULT_TOO_LARGE;
        } else {
            send_data(conn, "data", event->data);
        }
        return false;
    case JOB_EVENT_WARNING:
        // A warning is not part of the result, so a large one is omitted.
        if (!event->data || event->data->len <= EVENT_MAX) {
            send_data(conn, "warning", event->data);
        }
        return false;
    case JOB_EVENT_RETRIED:
        web_request(conn)->result = WEB_RESULT_WHOLE;
        send_event(conn, "restart", about_job(conn));
        return false;
    case JOB_EVENT_COMPLETE:
        send_complete(conn, event->data);
        break;
    case JOB_EVENT_EXCEPTION:
        if (event->data && event->data->len > EVENT_MAX) {
            send_fail(conn, "the exception is too large for a stream");
        } else {
            send_data(conn, "exception", event->data);
        }
        break;
    case JOB_EVENT_FAILED:
        send_fail(conn, "the job has failed");
        break;
    case JOB_EVENT_CANCELLED:
        send_fail(conn, "the job was cancelled");
        break;
    }
    return send_end(conn);
}
