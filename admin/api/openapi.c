/* SPDX-License-Identifier: MIT */
#include "core/base/blob.h"
#include "http1/reply.h"

#include "admin/api/api_routes.h"
#include "admin/request/admin_context.h"

#include <stddef.h>
#include <string.h>

// openapi.json, which the build embeds.
extern const unsigned char admin_openapi[];
extern const size_t admin_openapi_len;

static enum http1_next answer_openapi(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct admin_shared *shared = admin_shared(conn);

    (void)body;
    (void)blob;
    if (!shared->openapi) {
        shared->openapi = blob_new(admin_openapi_len);
        if (!shared->openapi) {
            http1_refuse_memory(conn);
            return HTTP1_NEXT_REQUEST;
        }
        memcpy(shared->openapi->bytes, admin_openapi, admin_openapi_len);
    }
    http1_reply_blob(conn, &(struct http1_reply){.status = 200, .type = HTTP1_JSON},
                     shared->openapi);
    return HTTP1_NEXT_REQUEST;
}

void openapi_forget(struct admin_shared *shared)
{
    blob_unref(shared->openapi);
    shared->openapi = NULL;
}

// The document does not describe this broker, so it needs no right beyond access.
const struct admin_route openapi_routes[] = {
    {.path = "/api/v1/openapi.json", .method = HTTP1_GET, .answer = answer_openapi},
    {.path = NULL},
};
