/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_SUBMIT_H
#define TANDEM_PROTO_HTTP_SUBMIT_H

// Submitting the job that a request is about, once its workload is there.

#include "core/base/macros.h"
#include "core/broker.h"

#include "proto_http/body.h"
#include "proto_http/context.h"

// WEB_NEXT_WAIT for a foreground job, which `submission` is about. WEB_NEXT_REQUEST where the
// request is answered: a background job is there, or the job was refused.
enum web_next web_submit(struct web_conn *conn, const struct web_workload *workload,
                         struct submission *submission) MUST_USE;

#endif
