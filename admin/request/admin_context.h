/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_REQUEST_ADMIN_CONTEXT_H
#define TANDEM_ADMIN_REQUEST_ADMIN_CONTEXT_H

// The state that all connections of the admin front-end share, and the state of a request. A
// connection has no state of its own beyond that of HTTP/1.1.

#include "core/base/slice.h"
#include "core/broker.h"
#include "http1/http1_conn.h"
#include "proto_common/introspect.h"

#include "admin/request/admin_options.h"
#include "admin/request/route.h"

#include <stdbool.h>

struct admin_maker;
struct metrics;
struct operations;

struct admin_shared {
    struct http1_shared http1; // first
    const struct admin_options *options;
    const struct admin_route *const *routes; // tables of routes, ending with NULL
    const struct introspect *introspect;     // NULL: the process offers no introspection
    struct metrics *metrics;
    struct operations *operations;
    struct blob *openapi;   // openapi.json; owned; NULL before the first request for it
    unsigned event_streams; // open ones
};

struct admin_request {
    struct http1_request http1; // first
    const struct admin_route *route;
    struct slice path, query;          // in `target`, still encoded
    struct slice args[ROUTE_ARGS_MAX]; // in `path`: the segments for the route's names in braces
    // Header values, valid until the route has answered; empty if the header is missing.
    struct slice accept, accept_encoding, none_match;
    char *target; // owned
    size_t target_len;
    const struct admin_maker *maker; // of a reply that is made in slices; otherwise NULL
    void *making;                    // owned: the state of the maker
    bool chunked;                    // the pieces of that reply are chunks
    bool proxied;                    // a proxy names another client (http1_fields)
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
