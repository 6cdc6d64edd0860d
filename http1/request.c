/* SPDX-License-Identifier: MIT */
#include "http1/request.h"

#include "core/base/memory.h"

#include "http1/user.h"

#include <stdlib.h>
#include <string.h>

bool http1_request_begin(struct http1_conn *conn)
{
    const struct http1_user *user = conn->shared->user;

    conn->request = memory_alloc(user->request_size);
    if (!conn->request) {
        return false;
    }
    memset(conn->request, 0, user->request_cleared);
    conn->request->max_body = conn->shared->options->max_body;
    return true;
}

bool http1_request_set_origin(struct http1_request *request, struct slice origin)
{
    char *copy = malloc(origin.len + 1);

    if (!copy) {
        return false;
    }
    memcpy(copy, origin.ptr, origin.len);
    copy[origin.len] = '\0';
    request->origin = copy;
    return true;
}

size_t http1_request_holds(const struct http1_conn *conn)
{
    const struct http1_user *user = conn->shared->user;
    const struct http1_request *request = conn->request;

    if (!request) {
        return 0;
    }
    return user->request_size + intake_holds(&request->body) +
           (user->holds ? user->holds(request) : 0);
}

void http1_request_end(struct http1_conn *conn)
{
    const struct http1_user *user = conn->shared->user;
    struct http1_request *request = conn->request;

    conn->request = NULL;
    if (!request) {
        return;
    }
    if (user->forget) {
        user->forget(request);
    }
    intake_discard(&request->body);
    free(request->origin);
    memory_free(request, user->request_size);
}
