/* SPDX-License-Identifier: MIT */
#include "proto_http/request.h"

size_t web_request_holds(const struct http1_request *base)
{
    const struct web_request *request = (const void *)base; // base is its first member

    return output_pending(&request->parts) + request->events.waiting;
}

void web_request_forget(struct http1_request *base)
{
    struct web_request *request = container_of(base, struct web_request, http1);

    output_clear(&request->parts);
    web_events_clear(&request->events);
}
