/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_QUEUES_H
#define TANDEM_ADMIN_QUEUES_H

// Looking at queues: /api/v1/queues, one of them, and its jobs.

#include "admin/route.h"

extern const struct admin_route queue_routes[];

#endif
