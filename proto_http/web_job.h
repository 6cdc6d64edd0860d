/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_WEB_JOB_H
#define TANDEM_PROTO_HTTP_WEB_JOB_H

// Requests for one job: its state or its result, a wait for its end, or its cancellation.

#include "core/base/macros.h"
#include "core/broker.h"
#include "http1/http1_conn.h"
#include "http1/user.h"

#include "proto_http/web_request.h"

// Checks the head of a GET or DELETE. True: the request is to wait for the end of the job; false:
// it is answered.
bool web_job_check(struct http1_conn *conn) MUST_USE;

// The request is complete.
enum http1_next web_job_begin(struct http1_conn *conn);

// Handles an event of the job. True: the request is answered.
bool web_job_event(struct http1_conn *conn, const struct job_event *event) MUST_USE;

// The time to wait is over: answers with the state of the job.
void web_job_expired(struct http1_conn *conn);

#endif
