/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_EXPORT_H
#define TANDEM_ADMIN_EXPORT_H

// GET /api/v1/export: jobs as they are, a line of JSON each (transfer/job_line.h), in no order: a
// page of them, and a last line with the cursor of the next one. A job that lives all through an
// export is in it once, whatever happens to it meanwhile. With `what=versions`, a short line for
// each job, those that are not durable included: its id, state, size and version
// (transfer/job_version.h).
//
// POST /api/v1/export: the jobs that the lines of the body name by their ids, in that order, each
// with its version and whether it is held; those that are not there are passed over.

#include "admin/route.h"

extern const struct admin_route export_routes[];

#endif
