/* SPDX-License-Identifier: MIT */
#include "proto_http/request.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_FIRST 4

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

void web_request_drop_parts(struct web_request *request)
{
    for (uint32_t i = 0; i < request->parts_count; i++) {
        blob_unref(request->parts[i]);
    }
    free(request->parts);
    request->parts = NULL;
    request->parts_count = 0;
    request->parts_room = 0;
    request->parts_len = 0;
}

bool web_request_add_part(struct web_request *request, struct blob *part)
{
    if (request->parts_count == request->parts_room) {
        uint32_t room = request->parts_room ? request->parts_room * 2 : PARTS_FIRST;
        struct blob **parts = realloc(request->parts, room * sizeof(struct blob *));

        if (!parts) {
            return false;
        }
        request->parts = parts;
        request->parts_room = room;
    }
    request->parts[request->parts_count++] = blob_ref(part);
    request->parts_len += part->len;
    return true;
}

void web_request_free(struct web_request *request)
{
    if (request) {
        web_request_drop_parts(request);
        blob_builder_discard(&request->body);
        free(request->origin);
        free(request);
    }
}
