/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_DELETION_H
#define TANDEM_ADMIN_DELETION_H

// POST /api/v1/delete: deletes jobs on the condition that each is still as it was exported, a line
// of JSON each: {"id": ID, "version": VERSION} (transfer/job_version.h). A job that a worker holds,
// or that has changed, is left alone. The body is read in slices, and the outcome of each line is
// answered meanwhile.

#include "admin/route.h"

extern const struct admin_route deletion_routes[];

#endif
