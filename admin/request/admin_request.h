/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_REQUEST_ADMIN_REQUEST_H
#define TANDEM_ADMIN_REQUEST_ADMIN_REQUEST_H

// How a request is accepted, answered and freed: the functions for the connections of HTTP/1.1
// (http1/user.h).

#include "core/session.h"
#include "http1/user.h"

// Request headers of this front-end, after those of HTTP/1.1. Changes require the first one.
enum {
    ADMIN_FIELD_REQUEST = HTTP1_FIELD_COUNT,
    ADMIN_FIELD_ACCEPT_ENCODING,
    ADMIN_FIELD_NONE_MATCH
};
#define ADMIN_FIELDS 3
extern const char *const admin_fields[ADMIN_FIELDS];

extern const struct http1_user admin_user;

// Sessions of connections and of background operations. They neither take nor watch jobs, so the
// broker never calls these functions.
extern const struct session_ops admin_session_ops;

// Whether the client itself is on this machine: a proxy on this machine does not count.
bool admin_caller_is_local(const struct http1_conn *conn);

#endif
