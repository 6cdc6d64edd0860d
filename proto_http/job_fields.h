/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_JOB_FIELDS_H
#define TANDEM_PROTO_HTTP_JOB_FIELDS_H

// What the headers of a request say of the job that it submits.

#include "core/base/macros.h"
#include "http1/fields.h"

#include "proto_http/context.h"

#include <stdbool.h>

// Takes it into the connection's request. False where something is wrong with it, which is
// answered.
bool web_job_fields_read(struct http1_conn *conn, const struct http1_fields *fields) MUST_USE;

#endif
