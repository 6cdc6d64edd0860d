/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_API_API_ROUTES_H
#define TANDEM_ADMIN_API_API_ROUTES_H

// The routes of the API. openapi.json describes requests and replies.

#include "admin/request/route.h"

struct admin_shared;

// /healthz and /readyz, for load balancers and service managers. Everyone may ask.
extern const struct admin_route health_routes[];

// /api/v1/openapi.json.
extern const struct admin_route openapi_routes[];
// Frees the memory that the route keeps.
void openapi_forget(struct admin_shared *shared);

// The process: process, journal, config, cluster, push, drain, reload, log-commands.
extern const struct admin_route process_routes[];

extern const struct admin_route queue_routes[];
extern const struct admin_route policy_routes[];
extern const struct admin_route connection_routes[];

// A schedule is visible to callers who may observe its queue. Changing it requires submit and
// operate on that queue.
extern const struct admin_route schedule_routes[];

// One job, and lists of the jobs of a queue.
extern const struct admin_route job_routes[];

// Changes of many jobs or queues in the background.
extern const struct admin_route operation_routes[];

// GET /api/v1/export: pages of jobs, one JSON object per line (transfer/job_line.h), in no order;
// the last line has the cursor of the next page. A job that exists during all pages appears exactly
// once. With `what=versions`, a short line for every job, also for jobs that are not durable: its
// id, state, size and version (transfer/job_version.h).
//
// POST /api/v1/export: the jobs whose ids are the lines of the body, in that order, each with its
// version and whether it is held. Missing jobs are skipped.
extern const struct admin_route export_routes[];

// POST /api/v1/import: adds the jobs of the lines (transfer/job_line.h). The body is read in slices
// while the outcomes are sent; a line is in the reply only when its job is durable.
//
// With `source`, each line is remembered by its id (source_memo.h), and the same line again adds no
// job. With `hold_seconds`, ready jobs are delayed for this time, or until the import is confirmed:
// DELETE /api/v1/import forgets the source and makes its delayed jobs ready. POST
// /api/v1/import/end closes the source for requests that are still in flight, and returns its
// imported jobs.
extern const struct admin_route import_routes[];

// POST /api/v1/delete: deletes jobs that are unchanged since their export. Each line is
// {"id": ID, "version": VERSION} (transfer/job_version.h). A job that a worker holds, or that has
// changed, is skipped.
extern const struct admin_route deletion_routes[];

#endif
