/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SHOWN_CONNECTION_H
#define TANDEM_ADMIN_SHOWN_CONNECTION_H

// A connection as the API shows it: `Connection`, and with its queues and jobs `ConnectionDetail`.

#include "http1/context.h"
#include "proto_common/sight.h"

#include <jansson.h>

// NULL without memory.
json_t *shown_connection(const struct http1_conn *conn, const struct sight_connection *connection);

// The same with those queues and jobs that the caller may observe. What the connection of the
// caller is sent from now on waits until these jobs are safe.
json_t *shown_connection_detail(const struct http1_conn *conn,
                                const struct sight_connection *connection);

#endif
