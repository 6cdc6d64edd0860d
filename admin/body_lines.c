/* SPDX-License-Identifier: MIT */
#include "admin/body_lines.h"

#include "admin/change.h"
#include "admin/reply.h"

#include <stdlib.h>
#include <string.h>

// Lines, and bytes of lines, of a slice; the line that has begun by then is finished.
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
// The answer
//

void line_answer_end(struct line_answer *answer)
{
    json_decref(answer->stopped);
    body_lines_end(&answer->lines);
}

size_t line_answer_holds(const struct line_answer *answer)
{
    return blob_slice(answer->lines.blob).len;
}

void line_answer_write(struct http1_conn *conn, struct line_answer *answer, json_t *item)
{
    change_hold(conn);
    admin_put(conn, answer->wrote ? SLICE(",\n") : SLICE(""));
    admin_put_json(conn, item);
    answer->wrote = true;
}

static json_t *refusal_of(const struct line_answer *answer, unsigned status, const char *why)
{
    return json_pack("{s:I, s:i, s:s}", "line", (json_int_t)answer->lines.line, "status",
                     (int)status, "error", why);
}

void line_answer_refuse(struct http1_conn *conn, struct line_answer *answer, unsigned status,
                        const char *why)
{
    answer->refused++;
    line_answer_write(conn, answer, refusal_of(answer, status, why));
}

void line_answer_refuse_status(struct http1_conn *conn, struct line_answer *answer,
                               enum status status)
{
    line_answer_refuse(conn, answer, admin_status_code(status), status_text(status));
}

void line_answer_stop(struct http1_conn *conn, struct line_answer *answer, enum status status)
{
    answer->lines.at = blob_slice(answer->lines.blob).len;
    answer->stopped = refusal_of(answer, admin_status_code(status), status_text(status));
    if (!answer->stopped) {
        output_fail(&conn->wire->out);
    }
}

// What stands behind the lines.
static void write_rest(struct http1_conn *conn, const struct line_answer *answer, json_t *counts)
{
    json_t *rest = json_pack("{s:o, s:o}", "counts", counts, "stopped",
                             answer->stopped ? json_incref(answer->stopped) : json_null());
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

enum http1_progress line_answer_make(struct http1_conn *conn, void *making,
                                     const struct line_answer_ops *ops)
{
    struct line_answer *answer = making;
    size_t from = answer->lines.at;
    struct slice text;

    if (!answer->begun) {
        answer->begun = true;
        admin_put(conn, SLICE("{\"lines\":["));
    }
    for (int i = 0; i < LINES_AT_ONCE && answer->lines.at - from < LINE_BYTES_AT_ONCE; i++) {
        if (!body_lines_next(&answer->lines, &text)) {
            write_rest(conn, answer, ops->counts(making));
            return HTTP1_ENDED;
        }
        if (text.len > 0) {
            ops->take(conn, making, text);
        }
    }
    return HTTP1_WROTE;
}
