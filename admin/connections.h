/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_CONNECTIONS_H
#define TANDEM_ADMIN_CONNECTIONS_H

// Who is connected: /api/v1/connections, one of them, and /api/v1/workers.

#include "admin/route.h"

extern const struct admin_route connection_routes[];

#endif
