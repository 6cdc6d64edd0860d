/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_POLICIES_H
#define TANDEM_ADMIN_POLICIES_H

// Policies of queues: those of the file, and those that are made here.

#include "admin/route.h"

extern const struct admin_route policy_routes[];

#endif
