/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_CLUSTER_H
#define TANDEM_ADMIN_CLUSTER_H

// A journal that several processes share: who owns it, how far behind the others are, and the
// request that another take over. A process that follows answers this, too.

#include "admin/route.h"

extern const struct admin_route cluster_routes[];

#endif
