/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_HEALTH_H
#define TANDEM_ADMIN_HEALTH_H

// What load balancers and service managers ask: /healthz, whether the process is alive, and
// /readyz, whether clients should come. Everybody may ask.

#include "admin/route.h"

extern const struct admin_route health_routes[];

#endif
