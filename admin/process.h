/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_PROCESS_H
#define TANDEM_ADMIN_PROCESS_H

// What the process shows of itself: /api/v1/process, /api/v1/journal and /api/v1/config. These are
// numbers of the whole, for whoever may observe something; the settings are for who may observe
// everything.

#include "admin/route.h"

extern const struct admin_route process_routes[];

#endif
