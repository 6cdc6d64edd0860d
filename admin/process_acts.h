/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_PROCESS_ACTS_H
#define TANDEM_ADMIN_PROCESS_ACTS_H

// What is done to the process: it drains, or no longer; its configuration is read again;
// the commands of a client are logged; an endpoint is tried again. Whoever
// does that must be allowed to administer all queues.

#include "admin/route.h"

extern const struct admin_route process_act_routes[];

#endif
