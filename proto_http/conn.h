/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_CONN_H
#define TANDEM_PROTO_HTTP_CONN_H

// The states of a connection: what may come next on it, and what is done with it. Each part of a
// request's way (accept.h, body.h, submit.h, wait.h) says how to go on; only conn.c calls them, and
// only it changes the state.

#include "core/broker.h"
#include "proto_common/frontend.h"

#include "proto_http/context.h"

// Of the connection's session; the owner is the connection.
extern const struct session_ops web_session_ops;

// A connection begins.
void web_conn_begin(struct web_conn *conn);

// The front-end's functions of the same names.
struct feed web_feed(void *conn, struct slice input, unsigned budget);
struct feed web_filled(void *conn, size_t len, unsigned budget);
void web_expired(void *conn);
void web_stopping(void *conn);

#endif
