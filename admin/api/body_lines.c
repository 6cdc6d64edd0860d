/* SPDX-License-Identifier: MIT */
#include "admin/api/body_lines.h"

#include "admin/request/admin_reply.h"

#include <stdlib.h>
#include <string.h>

// Maximum lines and bytes in a slice; the last line may exceed the bytes.
#define LINES_AT_ONCE 32
#define LINE_BYTES_AT_ONCE ((size_t)32 * 1024)

bool body_lines_begin(struct body_lines *lines, struct slice body, struct blob *blob)
{
    *lines = (struct body_lines){.blob = blob ? blob_ref(blob) : blob_copy(body)};
    return lines->blob != NULL;
}

void body_lines_end(struct body_lines *lines)
{
    if (lines->blob) {
        blob_unref(lines->blob);
        lines->blob = NULL;
    }
}

bool body_lines_next(struct body_lines *lines, struct slice *text)
{
    struct slice left = slice_from(blob_slice(lines->blob), lines->at);
    const char *end = left.len > 0 ? memchr(left.ptr, '\n', left.len) : NULL;

    if (left.len == 0) {
        return false;
    }
    *text = slice_of(left.ptr, end ? (size_t)(end - left.ptr) : left.len);
    lines->at += text->len + (end != NULL);
    lines->line++;
    if (text->len > 0 && text->ptr[text->len - 1] == '\r') {
        text->len--;
    }
    return true;
}

//
// The reply
//

void line_reply_end(struct line_reply *reply)
{
    json_decref(reply->stopped);
    body_lines_end(&reply->lines);
}

size_t line_reply_holds(const struct line_reply *reply)
{
    return blob_slice(reply->lines.blob).len;
}

void line_reply_write(struct http1_conn *conn, struct line_reply *reply, json_t *outcome)
{
    admin_hold_change(conn);
    admin_put(conn, reply->wrote ? SLICE(",\n") : SLICE(""));
    admin_put_json(conn, outcome);
    reply->wrote = true;
}

static json_t *line_refusal_json(const struct line_reply *reply, unsigned status, const char *why)
{
    return json_pack("{s:I, s:i, s:s}", "line", (json_int_t)reply->lines.line, "status",
                     (int)status, "error", why);
}

void line_reply_refuse(struct http1_conn *conn, struct line_reply *reply, unsigned status,
                       const char *why)
{
    reply->refused++;
    line_reply_write(conn, reply, line_refusal_json(reply, status, why));
}

void line_reply_refuse_status(struct http1_conn *conn, struct line_reply *reply, enum status status)
{
    line_reply_refuse(conn, reply, admin_status_code(status), status_text(status));
}

void line_reply_stop(struct http1_conn *conn, struct line_reply *reply, enum status status)
{
    reply->lines.at = blob_slice(reply->lines.blob).len;
    reply->stopped = line_refusal_json(reply, admin_status_code(status), status_text(status));
    if (!reply->stopped) {
        output_fail(&conn->wire->out);
    }
}

// Writes the members after the lines.
static void line_reply_write_end(struct http1_conn *conn, const struct line_reply *reply,
                                 json_t *counts)
{
    json_t *rest = json_pack("{s:o, s:o}", "counts", counts, "stopped",
                             reply->stopped ? json_incref(reply->stopped) : json_null());
    char *text = admin_dump(rest);

    json_decref(rest);
    if (!text) {
        output_fail(&conn->wire->out);
        return;
    }
    admin_put(conn, SLICE("],"));
    admin_put(conn, slice_of(text + 1, strlen(text) - 1));
    free(text);
}

enum http1_progress line_reply_make(struct http1_conn *conn, void *making,
                                    const struct line_reply_ops *ops)
{
    struct line_reply *reply = making;
    size_t from = reply->lines.at;
    struct slice text;

    if (!reply->begun) {
        reply->begun = true;
        admin_put(conn, SLICE("{\"lines\":["));
    }
    for (int i = 0; i < LINES_AT_ONCE && reply->lines.at - from < LINE_BYTES_AT_ONCE; i++) {
        if (!body_lines_next(&reply->lines, &text)) {
            line_reply_write_end(conn, reply, ops->counts(making));
            return HTTP1_ENDED;
        }
        if (text.len > 0) {
            ops->take(conn, making, text);
        }
    }
    return HTTP1_WROTE;
}
