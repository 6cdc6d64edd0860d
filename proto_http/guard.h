/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_GUARD_H
#define TANDEM_PROTO_HTTP_GUARD_H

// Who may call, and which page of a browser may see the answer. A port at the loopback is no
// protection by itself: every page that a browser on the machine has open can send requests to it.

#include "core/slice.h"

#include "proto_http/conn.h"
#include "proto_http/fields.h"

#include <stdbool.h>

// Whether the value of Host is an IP address, localhost, or one of http.hosts: under any other name
// a page of somebody else's might pretend to be of the same origin. The last one that is good
// whatever the configuration says is kept: most requests have the same.
bool web_host_allowed(struct web_shared *shared, struct slice host);

// Whether http.cors_origins names the origin, or everybody (`*`).
bool web_origin_allowed(const struct web_shared *shared, struct slice origin);

enum web_pass {
    WEB_PASS,
    WEB_PASS_UNKNOWN,   // no token, or one that is none
    WEB_PASS_FORBIDDEN, // a token without this function, or a page that may not call
};

// Whether the caller may do anything at all. With tokens in force, `*globs` says to which
// functions; NULL means all.
enum web_pass web_guard(const struct web_shared *shared, const struct web_fields *fields,
                        const char **globs);

// Whether those globs, and http.functions, have the function in them.
bool web_function_allowed(const struct web_shared *shared, const char *globs,
                          struct slice function);

#endif
