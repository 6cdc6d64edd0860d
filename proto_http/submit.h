/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_SUBMIT_H
#define TANDEM_PROTO_HTTP_SUBMIT_H

// Submitting a job: what the headers of a request say of it, and what becomes of the request.

#include "proto_common/http1/fields.h"

#include "proto_http/context.h"

#include <stdbool.h>

struct blob;

// Takes from the head what concerns the job into the connection's request. False where something
// is wrong with it, which is answered.
bool web_submit_read(struct web_conn *conn, const struct http1_fields *fields) MUST_USE;

// Submits the request's job with that workload, which is copied, or kept as `blob` where that is
// not NULL. A background job is answered; for another, the state is WEB_WAITING.
void web_submit(struct web_conn *conn, struct slice workload, struct blob *blob);

#endif
