/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_PLACES_H
#define TANDEM_PROTO_HTTP_PLACES_H

// Handles a request by the place that its target names (target.h): a function to which a job is
// submitted, a request for work, or an action on a lease. The functions are those of
// struct http1_user with the same names.

#include "core/base/macros.h"
#include "http1/user.h"

#include <stdbool.h>

enum http1_next web_complete(struct http1_conn *conn, struct slice body,
                             struct blob *blob) MUST_USE;
enum http1_progress web_step(struct http1_conn *conn, struct feed_turn *turn) MUST_USE;
void web_stopping(struct http1_conn *conn);
void web_forget(struct http1_request *request);
size_t web_holds(const struct http1_request *request);

#endif
