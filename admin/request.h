/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_REQUEST_H
#define TANDEM_ADMIN_REQUEST_H

// A request of an operator: how it is accepted, answered and forgotten. The table for the
// connections of HTTP/1.1 (http1/user.h).

#include "http1/user.h"

// The header that changes must have; the first of ours behind those of HTTP/1.1.
enum {
    ADMIN_FIELD_REQUEST = HTTP1_FIELD_COUNT,
    ADMIN_FIELD_ACCEPT_ENCODING,
    ADMIN_FIELD_NONE_MATCH
};
#define ADMIN_FIELDS 3
extern const char *const admin_fields[ADMIN_FIELDS];

extern const struct http1_user admin_user;

// Whether the request comes from this machine, and not by a proxy on it that speaks for somebody
// else.
bool admin_caller_is_here(const struct http1_conn *conn);

#endif
