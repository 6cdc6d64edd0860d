/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_JOB_ACTS_H
#define TANDEM_ADMIN_JOB_ACTS_H

// What is done to one job: added, deleted, kicked, buried, released, touched, changed, moved.

#include "admin/route.h"

extern const struct admin_route job_act_routes[];

#endif
