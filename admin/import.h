/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_IMPORT_H
#define TANDEM_ADMIN_IMPORT_H

// POST /api/v1/import: brings in jobs as they are, a line of JSON each (transfer/job_line.h). The
// body is read in slices, and what became of each line is answered meanwhile; what has been
// answered is as safe as was asked for.
//
// With `source`, each job is remembered by the id that it has there (source_memo.h): the same line
// again brings nothing in. With `hold_seconds`, ready jobs are delayed so long, or until the import
// is confirmed: DELETE /api/v1/import forgets what is remembered of the source, and begins the jobs
// that were held back. POST /api/v1/import/end closes the source for any request that is still on
// its way, and tells what was brought in under its name.

#include "admin/route.h"

extern const struct admin_route import_routes[];

#endif
