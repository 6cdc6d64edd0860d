/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_JOBS_H
#define TANDEM_PROTO_HTTP_JOBS_H

// One job, by its handle: how it stands, and taking it back.

#include "proto_http/context.h"

// GET and DELETE of /-/jobs/<handle>. A job of a function that the caller may not call, by `globs`
// or by http.functions, is answered as if it did not exist.
void web_job_answer(struct web_conn *conn, const char *globs);

#endif
