/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_WAIT_H
#define TANDEM_PROTO_HTTP_WAIT_H

// A request that waits for its job: what it gathers of the result, and how it ends.

#include "core/base/macros.h"
#include "core/broker.h"

#include "proto_http/context.h"

#include <stdbool.h>

// The job was submitted, and `submission` has its watch.
void web_wait_begin(struct web_conn *conn, const struct submission *submission);

// Something happened to the job. True: the request is answered.
bool web_wait_event(struct web_conn *conn, const struct watch *watch,
                    const struct job_event *event) MUST_USE;

// It has waited for too long. True: the request is answered.
bool web_wait_expired(struct web_conn *conn) MUST_USE;

// The process is about to stop: the request is answered, and its connection is not to be kept.
void web_wait_stopped(struct web_conn *conn);

#endif
