/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_JOB_FIELDS_H
#define TANDEM_PROTO_HTTP_JOB_FIELDS_H

// Reads the parameters of a job from the headers of the request that submits it.

#include "core/base/macros.h"
#include "http1/head.h"

#include "proto_http/context.h"

#include <stdbool.h>

// Stores them in the connection's request. False if one is invalid: answered.
bool web_job_fields_read(struct http1_conn *conn, const struct http1_fields *fields) MUST_USE;

#endif
