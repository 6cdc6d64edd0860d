/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_QUEUE_LIST_H
#define TANDEM_ADMIN_QUEUE_LIST_H

// GET /api/v1/queues: a page of a filtered, sorted list of however many queues.

#include "core/base/slice.h"
#include "http1/user.h"

struct blob;

enum http1_next queue_list_answer(struct http1_conn *conn, struct slice body, struct blob *blob);

#endif
