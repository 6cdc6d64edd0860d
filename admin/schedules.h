/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SCHEDULES_H
#define TANDEM_ADMIN_SCHEDULES_H

// Schedules: which there are and what came of them; made, changed, taken back and run by hand.
//
// Whoever may observe a schedule's queue sees it; whoever may submit to that queue and operate it
// may do the rest.

#include "admin/route.h"

extern const struct admin_route schedule_routes[];

#endif
