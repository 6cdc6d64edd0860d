/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_CONNECTION_LIST_H
#define TANDEM_ADMIN_CONNECTION_LIST_H

// GET /api/v1/connections and /api/v1/workers: a page of however many connections. Its cursor is
// the number of the last one.

#include "core/base/slice.h"
#include "http1/user.h"

struct blob;

enum http1_next connection_list_answer(struct http1_conn *conn, struct slice body,
                                       struct blob *blob);
enum http1_next worker_list_answer(struct http1_conn *conn, struct slice body, struct blob *blob);

#endif
