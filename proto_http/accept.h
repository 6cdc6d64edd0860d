/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_ACCEPT_H
#define TANDEM_PROTO_HTTP_ACCEPT_H

// What is decided about a request when its head is there: whether it is taken, how its body will
// come, or how it is answered at once.

#include "core/base/macros.h"
#include "proto_common/http1/framing.h"
#include "proto_common/http1/head.h"

#include "proto_http/context.h"

// The head, which http1_head_check() found complete, is of a new request. WEB_NEXT_BODY: a job is
// to be submitted, whose workload comes as the framing says; WEB_NEXT_REQUEST: answered.
enum web_next web_accept(struct web_conn *conn, const struct http1_head *head,
                         struct http1_framing *framing) MUST_USE;

#endif
