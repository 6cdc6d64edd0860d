/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_JSON_PROCESS_JSON_H
#define TANDEM_ADMIN_JSON_PROCESS_JSON_H

// The process, its journal, its cluster and its push endpoints as documents of the API. Each
// function returns NULL if there is no memory. `introspect` is NULL if the process offers no
// introspection.

#include "core/base/slice.h"
#include "http1/http1_conn.h"
#include "proto_common/introspect.h"

#include <jansson.h>

struct queue;

// `Process`, with the rights of the caller of the connection.
json_t *process_json(const struct http1_conn *conn);

// `Journal`.
json_t *journal_json(const struct http1_conn *conn);

// `Cluster`.
json_t *cluster_json(const struct http1_conn *conn);

// A list of `Endpoint`, in the order of the sections.
json_t *endpoints_json(const struct introspect *introspect);

// `Endpoint`: the first one of the section; null if there is none.
json_t *section_endpoint_json(const struct introspect *introspect, struct slice section);

// `Endpoint`: the one that jobs of the queue are pushed to; null if there is none.
json_t *queue_endpoint_json(const struct introspect *introspect, const struct queue *queue);

// Gets the cluster of the process; its role is CLUSTER_ALONE if the journal is not shared. Texts
// are never NULL.
void cluster_info_get(const struct introspect *introspect, struct introspect_cluster *cluster);

// "owner" and so on.
const char *cluster_role_name(enum cluster_role role);

#endif
