/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_LEASE_ACTIONS_H
#define TANDEM_PROTO_HTTP_LEASE_ACTIONS_H

// Actions of workers on their jobs: POST /-/leases/<token>/<action>. The token is all that a client
// needs for them.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "http1/user.h"

#include "proto_http/web_request.h"

#include <stdbool.h>

// Once the head has arrived: checks that the action and the lease exist. False: answered.
bool web_action_check(struct http1_conn *conn, const struct http1_framing *framing) MUST_USE;

// Of struct http1_user, for these requests: `complete`, `step` and `stopping`. A request waits only
// while too many earlier reports are still to be delivered.
enum http1_next web_action_begin(struct http1_conn *conn, struct slice body,
                                 struct blob *blob) MUST_USE;
enum http1_progress web_action_step(struct http1_conn *conn) MUST_USE;
void web_action_stopped(struct http1_conn *conn);

void web_action_forget(struct web_action *action);
size_t web_action_holds(const struct web_action *action);

#endif
