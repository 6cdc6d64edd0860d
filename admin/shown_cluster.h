/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SHOWN_CLUSTER_H
#define TANDEM_ADMIN_SHOWN_CLUSTER_H

// Who shares the journal, as the API shows it: `Cluster`.

#include "http1/context.h"

#include <jansson.h>

// NULL without memory.
json_t *shown_cluster(const struct http1_conn *conn);

#endif
