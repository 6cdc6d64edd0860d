/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_REQUEST_ROUTE_H
#define TANDEM_ADMIN_REQUEST_ROUTE_H

// Routes: tables of a method, a path and the function that answers. A path is matched segment by
// segment before it is decoded, because a name may contain any byte, a slash as %2F.
//
// To add a route, add a row to the table of its source; a new table belongs into admin/admin.c,
// too.

#include "core/base/slice.h"
#include "core/grants.h"
#include "http1/http1_conn.h"
#include "http1/head.h"
#include "http1/user.h"

#include <stdbool.h>

// Maximum number of segments in braces.
#define ROUTE_ARGS_MAX 2

struct admin_route {
    const char *path;         // such as `/api/v1/queues/{name}/jobs`; NULL ends a table
    enum http1_method method; // HTTP1_GET includes HEAD
    // The right (enum right) that the caller must have on at least one queue; 0: none, everyone may
    // ask. The function itself checks the rights on the queues that it shows or changes.
    unsigned right;
    bool takes_body;
    bool probe;       // reveals no secret: everyone may ask, under any Host
    bool early;       // is also answered while the journal is being read; the broker is empty then
    unsigned variant; // for a function that answers several routes
    // Answers with the functions of admin_reply.h and returns their result; the request is
    // admin_request(). The body is valid during the call; if there is a blob, it may be kept.
    enum http1_next (*answer)(struct http1_conn *conn, struct slice body, struct blob *blob);
};

struct admin_route_match {
    const struct admin_route *route; // NULL: no route has this path and method
    bool path_known;
    unsigned methods; // of the routes with this path: bits by enum http1_method
    struct slice args[ROUTE_ARGS_MAX];
};

// `tables` ends with NULL.
void admin_route_find(const struct admin_route *const *tables, struct slice path,
                      enum http1_method method, struct admin_route_match *match);

// Whether the encoded path matches the pattern. Sets `args` to the encoded segments in the places
// of the braces; these are never empty.
bool path_matches(struct slice path, const char *pattern, struct slice args[ROUTE_ARGS_MAX]);

#endif
