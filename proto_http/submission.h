/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_SUBMISSION_H
#define TANDEM_PROTO_HTTP_SUBMISSION_H

// Submits the job of a request: its parameters are in the headers, its workload is the body, or the
// query of a GET.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "http1/head.h"
#include "http1/user.h"

#include "proto_http/web_request.h"

// The headers that this front-end reads besides those of HTTP/1.1: the name in the code, and in the
// header. The headers from UNIQUE on are parameters of a job.
#define WEB_FIELDS(X)                                                                              \
    X(LAST_EVENT_ID, "Last-Event-ID")                                                              \
    X(UNIQUE, "X-Gearman-Unique")                                                                  \
    X(IDEMPOTENCY_KEY, "Idempotency-Key")                                                          \
    X(BACKGROUND, "X-Gearman-Background")                                                          \
    X(PRIORITY, "X-Gearman-Priority")                                                              \
    X(DELAY, "X-Gearman-Delay")                                                                    \
    X(EPOCH, "X-Gearman-Epoch")                                                                    \
    X(TTR, "X-Gearman-Ttr")                                                                        \
    X(TIMEOUT, "X-Gearman-Timeout")

// They follow the headers of HTTP/1.1 in the table of names.
enum web_field {
    WEB_FIELD_BEFORE = HTTP1_FIELD_COUNT - 1,
#define X(name, text) WEB_FIELD_##name,
    WEB_FIELDS(X)
#undef X
        WEB_FIELD_END
};

// The WEB_FIELD_COUNT names, for http1_shared_begin().
#define WEB_FIELD_COUNT (WEB_FIELD_END - WEB_FIELD_BEFORE - 1)
extern const char *const web_field_names[WEB_FIELD_COUNT];

// Reads the parameters of a job into the connection's request. False if one is invalid: answered.
bool web_job_fields_read(struct http1_conn *conn, const struct http1_fields *fields) MUST_USE;

// Submits the request's job with that workload. The statuses are those of broker_submit_to().
enum status web_submit_job(struct http1_conn *conn, struct slice workload, struct blob *blob,
                           struct submission *submission) MUST_USE;

// Answers that the job was not accepted.
void web_submit_refuse(struct http1_conn *conn, enum status status);

// Answers that a background job was accepted.
void web_submit_answer(struct http1_conn *conn, uint64_t id);

#endif
