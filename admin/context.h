/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_CONTEXT_H
#define TANDEM_ADMIN_CONTEXT_H

// What all connections of operators share, and a request of one on its way. A connection has
// nothing of its own beyond that of HTTP/1.1.

#include "core/base/slice.h"
#include "core/broker.h"
#include "http1/context.h"
#include "proto_common/sight.h"

#include "admin/admin.h"
#include "admin/metrics_moment.h"
#include "admin/operations.h"
#include "admin/path.h"

#include <stdbool.h>

struct admin_maker;
struct admin_route;

struct admin_shared {
    struct http1_shared http1; // first
    const struct admin_options *options;
    const struct sight *sight; // NULL: the process shows nothing of itself
    struct blob *document;     // openapi.json; owned; NULL until it is asked for
    struct metrics metrics;
    struct operations operations;
    unsigned streams; // of events that are open
};

struct admin_request {
    struct http1_request http1; // first
    const struct admin_route *route;
    struct slice path, query;         // in `target`, as they came
    struct slice args[PATH_ARGS_MAX]; // in `path`: what stands for the route's names in braces
    // Values of headers, good until the route has answered; empty where they are not there.
    struct slice accept, accept_encoding, none_match;
    char *target; // owned
    size_t target_len;
    const struct admin_maker *maker; // of an answer that is made in slices; NULL: none is
    void *making;                    // owned: what that works on
    bool chunked;                    // its pieces are chunks
    bool proxied;                    // a proxy says whom it speaks for (http1_fields)
};

static inline struct admin_shared *admin_shared(const struct http1_conn *conn)
{
    return (struct admin_shared *)conn->shared;
}

static inline struct admin_request *admin_request(const struct http1_conn *conn)
{
    return (struct admin_request *)conn->request;
}

static inline struct broker *admin_broker(const struct http1_conn *conn)
{
    return conn->shared->broker;
}

#endif
