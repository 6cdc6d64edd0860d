/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_ACCEPT_H
#define TANDEM_PROTO_HTTP_ACCEPT_H

// What is decided about a request when its head is there: whether it is taken, how its body will
// come, or how it is answered at once.

#include "proto_http/context.h"

// The head, which http1_head_check() found complete, is of a new request. The connection's state is
// what comes next.
void web_accept(struct web_conn *conn, const struct http1_head *head);

#endif
