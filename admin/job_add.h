/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_JOB_ADD_H
#define TANDEM_ADMIN_JOB_ADD_H

// POST /api/v1/jobs: a job is added. It is durable, and nobody waits for it.

#include "core/base/slice.h"
#include "http1/user.h"

struct blob;

enum http1_next job_add_answer(struct http1_conn *conn, struct slice body, struct blob *blob);

#endif
