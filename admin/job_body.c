/* SPDX-License-Identifier: MIT */
#include "admin/job_body.h"

#include "core/base/blob.h"
#include "core/base/memory.h"
#include "proto_common/json_body.h"

#include "admin/context.h"
#include "admin/reply.h"

#include <stdlib.h>
#include <string.h>

struct job_body {
    json_t *document; // owned; NULL once it is written
    const char *name; // of the member
    struct json_body json;
};

// The document up to where the bytes begin.
static void write_document(struct http1_conn *conn, struct job_body *body)
{
    char *text = admin_dump(body->document);

    json_decref(body->document);
    body->document = NULL;
    if (!text) {
        output_fail(&conn->wire->out);
        return;
    }
    admin_put(conn, slice_of(text, strlen(text) - 1));
    free(text);
    admin_put(conn, SLICE(",\""));
    admin_put(conn, slice_str(body->name));
    admin_put(conn, SLICE("\":"));
}

static enum http1_progress body_make(struct http1_conn *conn, void *making)
{
    struct job_body *body = making;
    char text[JSON_BODY_ROOM];
    bool ended;
    size_t len;

    if (!json_body_check(&body->json)) {
        return HTTP1_WROTE;
    }
    if (body->document) {
        write_document(conn, body);
    }
    len = json_body_write(&body->json, text, &ended);
    admin_put(conn, slice_of(text, len));
    if (ended) {
        admin_put(conn, SLICE("}"));
    }
    return ended ? HTTP1_ENDED : HTTP1_WROTE;
}

static void body_forget(void *making)
{
    struct job_body *body = making;

    json_decref(body->document);
    json_body_end(&body->json);
    memory_free(body, sizeof *body);
}

static size_t body_holds(const void *making)
{
    const struct job_body *body = making;

    return sizeof *body + blob_slice(body->json.blob).len;
}

static const struct admin_maker maker = {
    .make = body_make,
    .forget = body_forget,
    .holds = body_holds,
};

enum http1_next job_body_answer(struct http1_conn *conn, json_t *document, const char *name,
                                struct blob *blob, size_t most)
{
    struct job_body *body = memory_zeroed(sizeof *body);

    if (!document || !body || !blob) {
        json_decref(document);
        blob_unref(blob);
        memory_free(body, body ? sizeof *body : 0);
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    body->document = document;
    body->name = name;
    json_body_begin(&body->json, blob, most);
    return admin_make(conn, &(struct http1_reply){.status = 200, .type = HTTP1_JSON}, &maker, body);
}
