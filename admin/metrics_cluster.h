/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_CLUSTER_H
#define TANDEM_ADMIN_METRICS_CLUSTER_H

// The metrics of a journal that several processes share.

#include "proto_common/sight.h"

#include "admin/metrics_text.h"

// Members that have metrics by their node, the first of them.
#define METRICS_CLUSTER_NAMED 32

// Writes them; nothing where this process is alone.
void metrics_cluster_write(const struct sight_cluster *cluster, struct metrics_text *text);

#endif
