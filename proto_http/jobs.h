/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_JOBS_H
#define TANDEM_PROTO_HTTP_JOBS_H

// Requests for one job: how it stands, or what it has ended with; to wait for its end; to take it
// back.

#include "core/base/macros.h"
#include "core/broker.h"
#include "http1/conn.h"

#include "proto_http/context.h"

// A head with GET or DELETE. True: the request wants to wait for the end of the job; false: it is
// answered.
bool web_job_check(struct http1_conn *conn) MUST_USE;

// All of that request is there.
enum http1_next web_job_begin(struct http1_conn *conn);

// Something has happened to the job. True: the request is answered.
bool web_job_event(struct http1_conn *conn, const struct job_event *event) MUST_USE;

// It has waited long enough: answered with how the job stands.
void web_job_expired(struct http1_conn *conn);

#endif
