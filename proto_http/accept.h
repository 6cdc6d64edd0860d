/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_ACCEPT_H
#define TANDEM_PROTO_HTTP_ACCEPT_H

// Decides on a request once its head has arrived: submit a job, ask for work, act on a lease, or
// answer at once.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "http1/user.h"

#include "proto_http/web_request.h"

#include <stdbool.h>

// Of struct http1_user: `accept` and `other_method`. An accepted request is then handled by its
// place (web_request.h).
enum http1_next web_accept(struct http1_conn *conn, const struct http1_fields *fields,
                           const struct http1_framing *framing) MUST_USE;
void web_accept_no_method(struct http1_conn *conn, struct slice target);

// Whether the caller may submit to the function of the request's target, and it is offered; false:
// answered. Browsers, crawlers and monitors request some paths unasked: their jobs would pile up,
// so these functions need a worker, or an entry in http.functions.
bool web_function_check(struct http1_conn *conn) MUST_USE;

#endif
