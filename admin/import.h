/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_IMPORT_H
#define TANDEM_ADMIN_IMPORT_H

// POST /api/v1/import: brings in jobs as they are, a line of JSON each (lines/job_line.h). The body
// is read in slices, and what became of each line is answered meanwhile; what has been answered is
// as safe as was asked for.

#include "admin/route.h"

extern const struct admin_route import_routes[];

#endif
