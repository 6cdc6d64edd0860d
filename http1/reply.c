/* SPDX-License-Identifier: MIT */
#include "http1/reply.h"

#include "core/base/log.h"
#include "core/base/macros.h"

#include "http1/user.h"

#include <stdio.h>
#include <string.h>

bool http1_reply_begin(struct http1_conn *conn, unsigned status, struct http1_answer *head)
{
    struct http1_shared *shared = conn->shared;

    if (!http1_answer_begin(head, &conn->wire->out, status,
                            conn->request && conn->request->version_1_0)) {
        return false;
    }
    http1_answer_common(head, &shared->common, shared->facts->version,
                        broker_now(shared->broker).wall);
    return true;
}

static void end_head(struct http1_conn *conn, struct http1_answer *head)
{
    const char *origins = conn->shared->options->cors_origins;

    if (conn->request && conn->request->origin) {
        http1_answer_header(head, SLICE("Access-Control-Allow-Origin: "), conn->request->origin);
        http1_answer_header(head, SLICE("Access-Control-Expose-Headers: "),
                            conn->shared->user->exposed);
    }
    if (origins && *origins) {
        http1_answer_put(head, SLICE("Vary: Origin\r\n"));
    }
    http1_answer_end(head, conn->request && conn->request->keep_alive);
}

void http1_reply_end(struct http1_conn *conn, struct http1_answer *head, uint64_t len)
{
    http1_answer_length(head, len);
    end_head(conn, head);
}

bool http1_reply_end_open(struct http1_conn *conn, struct http1_answer *head)
{
    bool chunked = !conn->request->version_1_0;

    conn->request->keep_alive = conn->request->keep_alive && chunked;
    if (chunked) {
        http1_answer_chunked(head);
    }
    end_head(conn, head);
    return chunked;
}

// Begins the head, up to the header that frames the body. False: no memory.
static bool reply_begin_head(struct http1_conn *conn, const struct http1_reply *reply,
                             struct http1_answer *head)
{
    if (!http1_reply_begin(conn, reply->status, head)) {
        return false;
    }
    http1_answer_header(head, SLICE("Content-Type: "), reply->type);
    if (reply->extra) {
        http1_answer_put(head, slice_str(reply->extra));
    }
    return true;
}

void http1_reply_head(struct http1_conn *conn, const struct http1_reply *reply, uint64_t len)
{
    struct http1_answer head;

    if (reply_begin_head(conn, reply, &head)) {
        http1_reply_end(conn, &head, len);
    }
}

bool http1_reply_open(struct http1_conn *conn, const struct http1_reply *reply)
{
    struct http1_answer head;

    return reply_begin_head(conn, reply, &head) && http1_reply_end_open(conn, &head);
}

void http1_reply_body(struct http1_conn *conn, struct slice bytes, struct blob *blob)
{
    // An answer to HEAD has the headers of the body, but no body.
    if (!conn->request || conn->request->method != HTTP1_HEAD_METHOD) {
        output_body(&conn->wire->out, bytes, blob);
    }
}

void http1_reply(struct http1_conn *conn, const struct http1_reply *reply, struct slice body)
{
    http1_reply_head(conn, reply, body.len);
    http1_reply_body(conn, body, NULL);
}

void http1_reply_blob(struct http1_conn *conn, const struct http1_reply *reply, struct blob *body)
{
    http1_reply_head(conn, reply, body->len);
    http1_reply_body(conn, blob_slice(body), body);
}

//
// Errors
//

// Counts an error by its kind. Other statuses are not refusals; the sender of a 503 counts it.
static void count_error(const struct http1_conn *conn, unsigned status)
{
    switch (status) {
    case 400:
    case 405:
    case 415:
    case 417:
    case 421:
    case 501:
    case 505:
        wire_refused(conn->wire, REFUSAL_BAD);
        return;
    case 401:
    case 403:
        wire_refused(conn->wire, REFUSAL_FORBIDDEN);
        return;
    case 413:
    case 414:
    case 431:
        wire_refused(conn->wire, REFUSAL_TOO_LARGE);
        return;
    default:
        return;
    }
}

struct slice http1_error(const struct http1_conn *conn, unsigned status, struct slice shown,
                         const char *why, char *room)
{
    struct log_field conn_field = log_number("conn", (int64_t)conn->wire->number);
    struct log_field status_field = log_number("status", status);
    int len = snprintf(room, HTTP1_ERROR_MAX, "{\"error\": \"%s\"}\n", why);

    ENSURE(len > 0 && (size_t)len < HTTP1_ERROR_MAX);
    count_error(conn, status);
    if (shown.len > 0) {
        log_debug("error_answered", conn_field, status_field, log_text("value", shown),
                  log_string("why", why));
    } else {
        log_debug("error_answered", conn_field, status_field, log_string("why", why));
    }
    return slice_of(room, (size_t)len);
}

void http1_refuse(struct http1_conn *conn, const struct http1_reply *reply, const char *why)
{
    struct http1_reply error = *reply;
    char room[HTTP1_ERROR_MAX];
    struct slice body = http1_error(conn, reply->status, reply->shown, why, room);

    error.type = HTTP1_JSON;
    http1_reply(conn, &error, body);
}

void http1_refuse_status(struct http1_conn *conn, unsigned status, const char *why)
{
    http1_refuse(conn, &(struct http1_reply){.status = status}, why);
}

void http1_refuse_later(struct http1_conn *conn, const char *why)
{
    http1_refuse(conn, &(struct http1_reply){.status = 503, .extra = HTTP1_RETRY}, why);
}

void http1_refuse_memory(struct http1_conn *conn)
{
    const struct http1_user *user = conn->shared->user;

    if (user->no_memory) {
        user->no_memory(conn);
    } else {
        wire_refused(conn->wire, REFUSAL_MEMORY);
        http1_refuse_later(conn, status_text(STATUS_NO_MEMORY));
    }
}
