/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_WAIT_H
#define TANDEM_PROTO_HTTP_WAIT_H

// A request that waits for its job: what it gathers of the result, and how it ends.

#include "core/broker.h"

#include "proto_http/context.h"

extern const struct session_ops web_session_ops;

// The job was submitted: the state is WEB_WAITING.
void web_wait_begin(struct web_conn *conn, const struct submission *submission);

// It has waited for too long.
void web_wait_expired(struct web_conn *conn);

// The process is about to stop: the request is answered, and its connection is not to be kept.
void web_wait_stopped(struct web_conn *conn);

#endif
