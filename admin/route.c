/* SPDX-License-Identifier: MIT */
#include "admin/route.h"

#include "admin/assets.h"
#include "admin/cluster.h"
#include "admin/connections.h"
#include "admin/deletion.h"
#include "admin/document.h"
#include "admin/events.h"
#include "admin/export.h"
#include "admin/health.h"
#include "admin/import.h"
#include "admin/job_acts.h"
#include "admin/jobs.h"
#include "admin/metrics.h"
#include "admin/operations.h"
#include "admin/policies.h"
#include "admin/policy_acts.h"
#include "admin/process.h"
#include "admin/process_acts.h"
#include "admin/queue_acts.h"
#include "admin/queues.h"
#include "admin/schedules.h"

#include <string.h>

static const struct admin_route *const tables[] = {
    health_routes,     asset_routes,       document_routes,  queue_routes,      job_routes,
    metrics_routes,    events_routes,      process_routes,   connection_routes, queue_act_routes,
    job_act_routes,    process_act_routes, operation_routes, schedule_routes,   policy_routes,
    policy_act_routes, import_routes,      export_routes,    cluster_routes,    deletion_routes,
};

void admin_route_find(struct slice path, enum http1_method method, struct admin_found *found)
{
    struct slice args[PATH_ARGS_MAX] = {SLICE(""), SLICE("")};

    memset(found, 0, sizeof *found);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (const struct admin_route *route = tables[i]; route->path; route++) {
            if (!path_matches(path, route->path, args)) {
                continue;
            }
            found->path_known = true;
            found->methods |= 1u << route->method;
            if (route->method == method) {
                found->route = route;
                memcpy(found->args, args, sizeof args);
            }
        }
    }
}
