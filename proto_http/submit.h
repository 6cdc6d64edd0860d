/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_SUBMIT_H
#define TANDEM_PROTO_HTTP_SUBMIT_H

// Submits the job of a request once its workload has arrived: the body, or the query of a GET.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "http1/user.h"

#include "proto_http/context.h"

// Of struct http1_user: `complete`. A request for a foreground job waits for its result; a request
// for a background job is answered.
enum http1_next web_submit(struct http1_conn *conn, struct slice body, struct blob *blob) MUST_USE;

#endif
