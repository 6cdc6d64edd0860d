/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_SUBMISSION_H
#define TANDEM_PROTO_HTTP_SUBMISSION_H

// The steps of a submission, with an Idempotency-Key or without.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include "proto_http/context.h"

// Submits the request's job with that workload. The statuses are those of broker_submit_to().
enum status web_submit_job(struct http1_conn *conn, struct slice workload, struct blob *blob,
                           struct submission *submission) MUST_USE;

// Answers that the job was not accepted.
void web_submit_refuse(struct http1_conn *conn, enum status status);

// Answers that a background job was accepted.
void web_submit_answer(struct http1_conn *conn, uint64_t id);

#endif
