/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_POLICY_ACTS_H
#define TANDEM_ADMIN_POLICY_ACTS_H

// Makes policies of queues, and takes them away again.

#include "admin/route.h"

extern const struct admin_route policy_act_routes[];

#endif
