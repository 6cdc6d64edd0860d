/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_SUBMISSION_H
#define TANDEM_PROTO_HTTP_SUBMISSION_H

// The parts of a submission, whether it is carried out once or each time.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include "proto_http/context.h"

// Submits the job that the request says, with that workload; the statuses are those of
// broker_submit_to().
enum status web_submit_job(struct http1_conn *conn, struct slice workload, struct blob *blob,
                           struct submission *submission) MUST_USE;

// Answers that it was not accepted.
void web_submit_refuse(struct http1_conn *conn, enum status status);

// Answers that a background job was.
void web_submit_answer(struct http1_conn *conn, uint64_t id);

#endif
