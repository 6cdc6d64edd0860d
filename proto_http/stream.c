/* SPDX-License-Identifier: MIT */
#include "proto_http/stream.h"

#include "core/base/macros.h"
#include "proto_common/http1/events.h"

#include "proto_http/answer.h"
#include "proto_http/request.h"

#include <jansson.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

// An event with more data would hold everybody up while it is written.
#define EVENT_MAX ((size_t)256 * 1024)

static void fail(struct web_conn *conn)
{
    wire_drop(conn->wire, "no memory for an event");
}

// Bytes as a string of JSON, or as one in base64 with the key that says so. False without memory.
static bool set_data(json_t *object, struct blob *data)
{
    size_t len = data ? data->len : 0;
    json_t *text = json_stringn(len ? data->bytes : "", len);
    char *base64;
    bool good;

    if (text) {
        return json_object_set_new(object, "data", text) == 0;
    }
    base64 = len <= INT32_MAX ? malloc((len + 2) / 3 * 4 + 1) : NULL;
    if (!base64) {
        return false;
    }
    (void)EVP_EncodeBlock((unsigned char *)base64, (const unsigned char *)data->bytes, (int)len);
    good = json_object_set_new(object, "data", json_string_nocheck(base64)) == 0 &&
           json_object_set_new(object, "encoding", json_string("base64")) == 0;
    free(base64);
    return good;
}

// In chunks, unless the request is of a version that knows none.
static bool is_chunked(const struct web_conn *conn)
{
    return !conn->request->version_1_0;
}

// Sends an event and gives its object up.
static void send_event(struct web_conn *conn, const char *name, json_t *object)
{
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    uint64_t id = ++conn->request->events;

    if (text) {
        struct slice data = slice_of(text, strlen(text));

        broker_charge_bytes(conn->shared->broker, data.len);
        http1_event(&conn->wire->out, is_chunked(conn), id, name, data);
    } else {
        fail(conn);
    }
    free(text);
    json_decref(object);
}

static void send_end(struct web_conn *conn)
{
    http1_pieces_end(&conn->wire->out, is_chunked(conn));
}

static json_t *about_job(const struct web_conn *conn)
{
    char handle[HANDLE_MAX];
    char *end = handle_write(&conn->shared->handles, conn->request->job_id, handle);

    return json_pack("{s:s%}", "handle", handle, (size_t)(end - handle));
}

static void send_data(struct web_conn *conn, const char *name, struct blob *data)
{
    json_t *object = about_job(conn);

    if (object && !set_data(object, data)) {
        json_decref(object);
        object = NULL;
    }
    send_event(conn, name, object);
}

// Bytes that are too many for an event are not sent: then neither is it said that the job is done,
// as if that were all.
static void send_part(struct web_conn *conn, struct blob *data)
{
    if (data && data->len > EVENT_MAX) {
        conn->request->result = WEB_RESULT_TOO_LARGE;
    } else {
        send_data(conn, "data", data);
    }
}

// A remark is no part of the result.
static void send_warning(struct web_conn *conn, struct blob *data)
{
    if (!data || data->len <= EVENT_MAX) {
        send_data(conn, "warning", data);
    }
}

static void send_fail(struct web_conn *conn, const char *why)
{
    json_t *object = about_job(conn);

    if (object && json_object_set_new(object, "error", json_string(why)) != 0) {
        json_decref(object);
        object = NULL;
    }
    send_event(conn, "fail", object);
}

static void send_complete(struct web_conn *conn, struct blob *data)
{
    if (data && data->len > EVENT_MAX) {
        conn->request->result = WEB_RESULT_TOO_LARGE;
    }
    switch (conn->request->result) {
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

static void send_progress(struct web_conn *conn, const struct job_event *event)
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

void web_stream_begin(struct web_conn *conn)
{
    const struct web_answer answer = {
        .status = 200,
        .job_id = conn->request->job_id,
        .command = "JOB_CREATED",
        .type = "text/event-stream",
        .extra = "Cache-Control: no-store\r\n",
    };

    web_answer_open(conn, &answer);
    send_event(conn, "created", about_job(conn));
}

void web_stream_timeout(struct web_conn *conn)
{
    send_event(conn, "timeout", about_job(conn));
    send_end(conn);
}

void web_stream_fail(struct web_conn *conn, const char *why)
{
    send_fail(conn, why);
    send_end(conn);
}

bool web_stream_event(struct web_conn *conn, const struct job_event *event)
{
    if (wire_drop_unread(conn->wire, 0, conn->shared->options->max_result)) {
        return false;
    }
    switch (event->kind) {
    case JOB_EVENT_PROGRESS:
        send_progress(conn, event);
        return false;
    case JOB_EVENT_DATA:
        send_part(conn, event->data);
        return false;
    case JOB_EVENT_WARNING:
        send_warning(conn, event->data);
        return false;
    case JOB_EVENT_RETRIED:
        conn->request->result = WEB_RESULT_WHOLE;
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
        send_fail(conn, "the job was taken back");
        break;
    }
    send_end(conn);
    return true;
}
