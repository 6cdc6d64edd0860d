/* SPDX-License-Identifier: MIT */
#include "admin/import.h"

#include "core/base/memory.h"
#include "core/broker.h"
#include "core/import.h"

#include "lines/job_line.h"

#include "admin/change.h"
#include "admin/context.h"
#include "admin/input.h"
#include "admin/parts.h"
#include "admin/reply.h"

#include <stdlib.h>
#include <string.h>

// A slice: so many lines, or so many bytes of them and the line that has begun by then.
#define LINES_AT_ONCE 32
#define BYTES_AT_ONCE ((size_t)32 * 1024)
// A line has fewer members, words and lists.
#define PARTS_MOST 200

struct import {
    struct blob *blob; // the request's body
    size_t at;         // how far it was read
    uint64_t line;     // the number of the last line that was, from 1
    uint64_t imported, joined, refused;
    json_t *stopped; // owned: why the rest was not looked at
    bool begun, wrote;
};

static void write_item(struct http1_conn *conn, struct import *import, json_t *item)
{
    change_hold(conn);
    admin_put(conn, import->wrote ? SLICE(",\n") : SLICE(""));
    admin_put_json(conn, item);
    import->wrote = true;
}

static json_t *refusal(const struct import *import, unsigned status, const char *why)
{
    return json_pack("{s:I, s:i, s:s}", "line", (json_int_t)import->line, "status", (int)status,
                     "error", why);
}

static void refuse(struct http1_conn *conn, struct import *import, unsigned status, const char *why)
{
    import->refused++;
    write_item(conn, import, refusal(import, status, why));
}

// The line is not at fault: it and all behind it may be sent again.
static void stop(struct http1_conn *conn, struct import *import, enum status status)
{
    import->at = blob_slice(import->blob).len;
    import->stopped = refusal(import, admin_status_code(status), status_text(status));
    if (!import->stopped) {
        output_fail(&conn->wire->out);
    }
}

static void import_job(struct http1_conn *conn, struct import *import,
                       const struct job_image *image)
{
    struct imported imported;
    enum status status = broker_import(admin_broker(conn), image, conn->session, &imported);

    if (status == STATUS_NO_MEMORY || status == STATUS_NO_SPACE || status == STATUS_DRAINING) {
        stop(conn, import, status);
        return;
    }
    if (status != STATUS_OK) {
        refuse(conn, import, admin_status_code(status), status_text(status));
        return;
    }
    import->imported += !imported.joined;
    import->joined += imported.joined;
    write_item(conn, import,
               json_pack("{s:I, s:I, s:b}", "line", (json_int_t)import->line, "id",
                         (json_int_t)imported.id, "joined", (int)imported.joined));
}

static void import_line(struct http1_conn *conn, struct import *import, struct slice text)
{
    struct job_line line;

    if (!parts_fit(text, PARTS_MOST)) {
        refuse(conn, import, 400, "it has too many members");
        return;
    }
    switch (job_line_read(text, broker_now(admin_broker(conn)).wall, &line)) {
    case JOB_LINE_JOB:
        import_job(conn, import, &line.image);
        break;
    case JOB_LINE_BAD:
        refuse(conn, import, 400, line.why);
        break;
    case JOB_LINE_NO_MEMORY:
        stop(conn, import, STATUS_NO_MEMORY);
        break;
    case JOB_LINE_END:
        break;
    }
    job_line_end(&line);
}

// The next line of the body, without its end; false behind the last one.
static bool next_line(struct import *import, struct slice *text)
{
    struct slice left = slice_from(blob_slice(import->blob), import->at);
    const char *end = left.len > 0 ? memchr(left.ptr, '\n', left.len) : NULL;

    if (left.len == 0) {
        return false;
    }
    *text = slice_of(left.ptr, end ? (size_t)(end - left.ptr) : left.len);
    import->at += text->len + (end != NULL);
    import->line++;
    if (text->len > 0 && text->ptr[text->len - 1] == '\r') {
        text->len--;
    }
    return true;
}

// What stands behind the lines.
static void write_end(struct http1_conn *conn, const struct import *import)
{
    json_t *end =
        json_pack("{s:{s:I, s:I, s:I}, s:o}", "counts", "imported", (json_int_t)import->imported,
                  "joined", (json_int_t)import->joined, "refused", (json_int_t)import->refused,
                  "stopped", import->stopped ? json_incref(import->stopped) : json_null());
    char *text = admin_dump(end);

    json_decref(end);
    if (!text) {
        output_fail(&conn->wire->out);
        return;
    }
    admin_put(conn, SLICE("],"));
    admin_put(conn, slice_of(text + 1, strlen(text) - 1));
    free(text);
}

static enum http1_progress import_make(struct http1_conn *conn, void *making)
{
    struct import *import = making;
    size_t from = import->at;
    struct slice text;

    if (!import->begun) {
        import->begun = true;
        admin_put(conn, SLICE("{\"lines\":["));
    }
    for (int i = 0; i < LINES_AT_ONCE && import->at - from < BYTES_AT_ONCE; i++) {
        if (!next_line(import, &text)) {
            write_end(conn, import);
            return HTTP1_ENDED;
        }
        if (text.len > 0) {
            import_line(conn, import, text);
        }
    }
    return HTTP1_WROTE;
}

static void import_forget(void *making)
{
    struct import *import = making;

    json_decref(import->stopped);
    blob_unref(import->blob);
    memory_free(import, sizeof *import);
}

static size_t import_holds(const void *making)
{
    const struct import *import = making;

    return sizeof *import + blob_slice(import->blob).len;
}

static const struct admin_maker maker = {
    .make = import_make,
    .forget = import_forget,
    .holds = import_holds,
};

static enum http1_next answer_import(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const names[] = {NULL};
    struct import *import;
    struct input input;

    input_begin_query(&input, conn);
    input_parameters(&input, names);
    if (!input_good(&input)) {
        return input_refuse(&input);
    }
    import = memory_zeroed(sizeof *import);
    if (!import) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    import->blob = blob ? blob_ref(blob) : blob_copy(body);
    if (!import->blob) {
        memory_free(import, sizeof *import);
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    return admin_make(conn, &(struct http1_reply){.status = 200, .type = HTTP1_JSON}, &maker,
                      import);
}

const struct admin_route import_routes[] = {
    {.path = "/api/v1/import",
     .method = HTTP1_POST,
     .right = MAY_SUBMIT,
     .takes_body = true,
     .answer = answer_import},
    {.path = NULL},
};
