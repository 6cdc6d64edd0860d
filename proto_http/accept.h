/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_ACCEPT_H
#define TANDEM_PROTO_HTTP_ACCEPT_H

// What is decided about a request when its head is there: whether a job is to be submitted, work is
// asked for or something said of it, or how it is answered at once.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "http1/user.h"

#include "proto_http/context.h"

// Of struct http1_user: `accept` and `other_method`. What becomes of a request that is taken goes
// by its place (places.h).
enum http1_next web_accept(struct http1_conn *conn, const struct http1_fields *fields,
                           const struct http1_framing *framing) MUST_USE;
void web_accept_no_method(struct http1_conn *conn, struct slice target);

#endif
