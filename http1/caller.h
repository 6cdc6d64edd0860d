/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_CALLER_H
#define TANDEM_HTTP1_CALLER_H

// Identifies the caller of a request and refuses requests that the caller may not make. Requests of
// one connection may have different callers, so `accept` (user.h) calls these functions for each.
// If one returns false, the request has been answered, or will be later (request->slowed).

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "http1/head.h"
#include "http1/http1_conn.h"

#include <stdbool.h>

// Stores the origin of the calling page if it may read the answer. Called before the request is
// answered. False: no memory.
bool http1_caller_note_origin(struct http1_conn *conn, const struct http1_fields *fields) MUST_USE;

// Identifies the caller and gives the connection's session the caller's rights. False if the caller
// has no rights here (user->rights), if a page calls that may not, or if Host is not one of the
// server's; a valid token makes the last two checks unnecessary.
bool http1_caller_check(struct http1_conn *conn, const struct http1_fields *fields) MUST_USE;

// The same for a request that never has a token and that any client may send: if there are no
// rules, it must name an allowed Host.
bool http1_caller_check_open(struct http1_conn *conn, const struct http1_fields *fields) MUST_USE;

// Checks only the calling page, for a request that contains a secret.
bool http1_caller_check_page(struct http1_conn *conn, const struct http1_fields *fields) MUST_USE;

// Whether access rules exist; without rules, every caller may do everything.
static inline bool http1_caller_has_rules(const struct http1_conn *conn)
{
    return conn->ruled || conn->shared->tokens;
}

// Refuses: 401 if the caller is not authenticated, otherwise 403. `shown` is the requested object
// for the log; may be empty.
void http1_caller_refuse(struct http1_conn *conn, struct slice shown);

// Answers a request whose wrong token was delayed, when the delay has ended (HTTP1_STATE_SLOWED).
void http1_caller_refuse_slowed(struct http1_conn *conn);

#endif
