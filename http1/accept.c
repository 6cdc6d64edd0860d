/* SPDX-License-Identifier: MIT */
#include "http1/accept.h"

#include "core/base/macros.h"

#include "http1/fields.h"
#include "http1/reply.h"
#include "http1/request.h"
#include "http1/user.h"

#include <string.h>

// Answers the request. Always false.
static bool refuse(struct http1_conn *conn, unsigned status, const char *why)
{
    http1_refuse_status(conn, status, why);
    return false;
}

static bool body_fits(struct http1_conn *conn, const struct http1_framing *framing)
{
    if (framing->len <= conn->request->max_body) {
        return true;
    }
    wire_log_too_large(conn->wire, "a request's body", framing->len,
                       conn->shared->user->texts.body_setting);
    return refuse(conn, 413, conn->shared->user->texts.long_body);
}

static bool read_framing(struct http1_conn *conn, const struct http1_fields *fields,
                         struct http1_framing *framing)
{
    struct http1_refusal refusal;

    if (!http1_framing_read(fields, framing, &refusal)) {
        return refuse(conn, refusal.status, refusal.why);
    }
    return body_fits(conn, framing);
}

// Logs the command without its query, which may contain a client's secrets.
static APART void trace(const struct http1_conn *conn, const struct http1_fields *fields)
{
    static const char *const methods[] = {
        [HTTP1_GET] = "GET",
        [HTTP1_POST] = "POST",
        [HTTP1_PUT] = "PUT",
        [HTTP1_DELETE] = "DELETE",
        [HTTP1_HEAD_METHOD] = "HEAD",
        [HTTP1_OPTIONS] = "OPTIONS",
        [HTTP1_OTHER_METHOD] = "another method",
    };
    const char *method = methods[fields->method];
    const char *query = memchr(fields->target.ptr, '?', fields->target.len);
    struct slice path = fields->target;

    path.len = query ? (size_t)(query - path.ptr) : path.len;
    wire_log_command(conn->wire, slice_str(method), path, fields->length);
}

static bool accept(struct http1_conn *conn, const struct http1_head *head,
                   struct http1_fields *fields, struct http1_framing *framing)
{
    const struct http1_user *user = conn->shared->user;
    struct http1_request *request = conn->request;
    bool good = http1_fields_read(head, &conn->shared->names, fields);

    request->method = fields->method;
    request->version_1_0 = fields->version_1_0;
    if (!good) {
        return refuse(conn, 400, "the request cannot be read");
    }
    if (conn->wire->traced) {
        trace(conn, fields);
    }
    if (fields->method == HTTP1_OTHER_METHOD) {
        user->other_method(conn, fields->target);
        return false;
    }
    if (!read_framing(conn, fields, framing)) {
        return false;
    }
    // A refused request's body is not read, so the connection closes after the answer.
    conn->unread = http1_has_body(framing);
    request->keep_alive = fields->keep_alive && !conn->unread;
    if (user->accept(conn, fields, framing) != HTTP1_NEXT_BODY || !body_fits(conn, framing)) {
        return false;
    }
    request->keep_alive = fields->keep_alive && !request->last;
    return true;
}

bool http1_accept(struct http1_conn *conn, const struct http1_head *head,
                  struct http1_framing *framing)
{
    struct http1_fields fields;

    conn->unread = true;
    if (!http1_request_begin(conn)) {
        http1_refuse_memory(conn);
        return false;
    }
    return accept(conn, head, &fields, framing);
}
