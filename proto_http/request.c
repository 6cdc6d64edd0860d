/* SPDX-License-Identifier: MIT */
#include "proto_http/request.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct web_request *web_request_new(void)
{
    struct web_request *request = malloc(sizeof *request);

    if (request) {
        memset(request, 0, offsetof(struct web_request, target.name));
    }
    return request;
}

bool web_request_set_origin(struct web_request *request, struct slice origin)
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

void web_request_free(struct web_request *request)
{
    if (request) {
        output_clear(&request->parts);
        intake_discard(&request->body);
        free(request->origin);
        free(request);
    }
}
