/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_ROUTE_H
#define TANDEM_ADMIN_ROUTE_H

// What there is to ask for: tables of routes, each a method, a path and the function that answers.
// Whoever adds one adds a row to the table of its file, and a new file's table to those of route.c.

#include "core/base/slice.h"
#include "core/grants.h"
#include "http1/context.h"
#include "http1/fields.h"
#include "http1/user.h"

#include "admin/path.h"

#include <stdbool.h>

struct admin_route {
    const char *path;         // with names in braces (path.h); NULL ends a table
    enum http1_method method; // HTTP1_GET is for HEAD, too
    // What the caller must have somewhere, enum right; 0: nothing, it is for everybody. What the
    // answer shows, or does to a queue, is asked for by the function, of the session.
    unsigned right;
    bool takes_body;
    bool probe; // it says nothing secret: anyone may ask, by whatever name of the host
    bool early; // it is answered while the journal is being read, too; then the broker is empty
    // Answers with reply.h, and returns what that says. The body is good during the call, unless
    // there is a blob, which may be referred to for longer. What the request asks for is in
    // admin_request().
    enum http1_next (*answer)(struct http1_conn *conn, struct slice body, struct blob *blob);
};

// What was found of a path.
struct admin_found {
    const struct admin_route *route; // NULL: none of that path has the method
    bool path_known;
    unsigned methods; // of the routes of that path: bits by enum http1_method
    struct slice args[PATH_ARGS_MAX];
};

void admin_route_find(struct slice path, enum http1_method method, struct admin_found *found);

#endif
