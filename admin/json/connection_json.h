/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_JSON_CONNECTION_JSON_H
#define TANDEM_ADMIN_JSON_CONNECTION_JSON_H

// Connections as documents of the API. Each function returns NULL if there is no memory.

#include "http1/context.h"
#include "proto_common/introspect.h"

#include <jansson.h>

// `Connection`.
json_t *connection_json(const struct http1_conn *conn,
                        const struct introspect_connection *connection);

// `ConnectionDetail`: with the queues and jobs that the caller may observe. Delays the further
// output of the caller's connection until these jobs are durable.
json_t *connection_detail_json(const struct http1_conn *conn,
                               const struct introspect_connection *connection);

#endif
