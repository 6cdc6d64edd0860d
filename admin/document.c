/* SPDX-License-Identifier: MIT */
#include "admin/document.h"

#include "core/base/blob.h"
#include "http1/reply.h"

#include "admin/context.h"
#include "admin/openapi.h"

#include <string.h>

static enum http1_next answer_document(struct http1_conn *conn, struct slice body,
                                       struct blob *blob)
{
    struct admin_shared *shared = admin_shared(conn);

    (void)body;
    (void)blob;
    if (!shared->document) {
        shared->document = blob_new(admin_openapi_len);
        if (!shared->document) {
            http1_refuse_memory(conn);
            return HTTP1_NEXT_REQUEST;
        }
        memcpy(shared->document->bytes, admin_openapi, admin_openapi_len);
    }
    http1_reply_blob(conn, &(struct http1_reply){.status = 200, .type = HTTP1_JSON},
                     shared->document);
    return HTTP1_NEXT_REQUEST;
}

void document_forget(struct admin_shared *shared)
{
    blob_unref(shared->document);
    shared->document = NULL;
}

// Whoever may see anything may know how to ask for it; it says nothing of this broker.
const struct admin_route document_routes[] = {
    {.path = "/api/v1/openapi.json", .method = HTTP1_GET, .answer = answer_document},
    {.path = NULL},
};
