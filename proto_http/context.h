/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_CONTEXT_H
#define TANDEM_PROTO_HTTP_CONTEXT_H

// The state that all HTTP connections share. Connections are struct http1_conn: http1 receives
// requests and sends answers for this front-end. Requests (request.h) begin with
// struct http1_request.

#include "core/broker.h"
#include "proto_common/frontend.h"
#include "proto_common/handle.h"
#include "http1/http1_conn.h"

#include "proto_http/http.h"
#include "proto_http/leases.h"

struct web_shared {
    struct http1_shared http1; // its tokens, the rules of http.tokens, are owned here
    const struct web_options *options;
    struct access *fresh_tokens; // of a reload in preparation; owned
    struct handles handles;
    struct web_leases leases; // of workers
    uint64_t once_position;   // of the last answer remembered for an Idempotency-Key
};

static inline struct web_shared *web_shared(const struct http1_conn *conn)
{
    return container_of(conn->shared, struct web_shared, http1);
}

#endif
