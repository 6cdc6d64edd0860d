/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_JOBS_H
#define TANDEM_PROTO_HTTP_JOBS_H

// One job, by its handle: how it stands, and taking it back.

#include "proto_http/conn.h"

// GET and DELETE of /-/jobs/<handle>; what is at another function than `globs` allow is not there.
void web_job(struct web_conn *conn, const char *globs);

#endif
