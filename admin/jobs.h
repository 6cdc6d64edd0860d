/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_JOBS_H
#define TANDEM_ADMIN_JOBS_H

// Looking at one job: /api/v1/jobs/{id}, its body, and what it ended with.

#include "admin/route.h"

extern const struct admin_route job_routes[];

#endif
