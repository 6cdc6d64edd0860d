/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_JOB_LIST_H
#define TANDEM_ADMIN_JOB_LIST_H

// GET /api/v1/queues/{name}/jobs: a page of however many jobs of one queue and state.

#include "core/base/slice.h"
#include "http1/user.h"

struct blob;

enum http1_next job_list_answer(struct http1_conn *conn, struct slice body, struct blob *blob);

#endif
