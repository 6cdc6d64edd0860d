/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_CALLER_H
#define TANDEM_HTTP1_CALLER_H

// The caller of a request: whom it speaks for, and refusing what that caller may not do. Requests
// of one connection may be of different callers, so each begins with finding out: `accept` (user.h)
// calls these. What returns false has answered the request, or has it answered later
// (request->slowed).

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "http1/context.h"
#include "http1/fields.h"

#include <stdbool.h>

// Notes the origin of the page that calls, where it may see the answer: before anything else is
// answered. False without memory.
bool http1_caller_note_origin(struct http1_conn *conn, const struct http1_fields *fields) MUST_USE;

// Finds out who calls, and gives the connection's session what that caller may do. False for a
// caller that may do nothing here (user->rights), for a page that may not call, and for a Host that
// is none of the server's; the two last do not matter where a token is shown.
bool http1_caller_check(struct http1_conn *conn, const struct http1_fields *fields) MUST_USE;

// The same for a request that never has a token, and which everybody may send: where there are no
// rules, it has to name the right Host.
bool http1_caller_check_open(struct http1_conn *conn, const struct http1_fields *fields) MUST_USE;

// Only whether a page calls that may not, for a request that shows what nobody else can know.
bool http1_caller_check_page(struct http1_conn *conn, const struct http1_fields *fields) MUST_USE;

// Whether there are rules that a caller has to fit; without, everybody may do everything.
static inline bool http1_caller_has_rules(const struct http1_conn *conn)
{
    return conn->ruled || conn->shared->tokens;
}

// Answers that the caller may not do that: 401 where it has not shown who it is, otherwise 403.
// `shown` is what it asked for, for the log; may be empty.
void http1_caller_refuse(struct http1_conn *conn, struct slice shown);

// The answer to a request with one wrong token too many, whose moment has come
// (HTTP1_STATE_SLOWED).
void http1_caller_refuse_slowed(struct http1_conn *conn);

#endif
