/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_H
#define TANDEM_ADMIN_METRICS_H

// GET /metrics. METRICS.md beside this file lists what there is.

#include "admin/metrics_moment.h"
#include "admin/route.h"

extern const struct admin_route metrics_routes[];

#endif
