/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_QUEUE_ACTS_H
#define TANDEM_ADMIN_QUEUE_ACTS_H

// What is done to one queue: made, given up, paused, resumed, limited.

#include "admin/route.h"

extern const struct admin_route queue_act_routes[];

#endif
