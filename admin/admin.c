/* SPDX-License-Identifier: MIT */
#include "admin/admin.h"

#include "http1/http1_conn.h"
#include "http1/user.h"
#include "proto_common/wire.h"

#include "admin/api/api_routes.h"
#include "admin/api/admin_operations.h"
#include "admin/events/event_stream.h"
#include "admin/metrics/metrics.h"
#include "admin/page/assets.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_request.h"

#include <stddef.h>

static const struct option admin_option_rows[] = {
    {.name = "max_body",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct admin_options, max_body),
     .default_value = "1M",
     .min = 1024,
     .max = INT64_C(1) << 30,
     .live = true,
     .effect = "Maximum body size; larger requests get 413."},
    HTTP1_OPTION_ROWS(struct admin_options),
    {.name = "hosts",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct admin_options, hosts),
     .default_value = "",
     .live = true,
     .effect = "Host names that requests may use, in addition to localhost and addresses: names, "
               "*.suffix, or * for any."},
    {.name = "max_series_queues",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct admin_options, max_series_queues),
     .default_value = "1000",
     .max = 5000,
     .live = true,
     .effect = "Maximum number of queues with their own metrics; the others are summed up."},
    {.name = "metrics_names",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct admin_options, metrics_names),
     .default_value = "",
     .live = true,
     .effect = "Exporters whose metric names are written, too: beanstalkd, gearman."},
    {.name = NULL},
};

static const struct admin_route *const route_tables[] = {
    health_routes, asset_routes,   openapi_routes,    process_routes,
    queue_routes,  job_routes,     connection_routes, schedule_routes,
    policy_routes, metrics_routes, operation_routes,  event_routes,
    import_routes, export_routes,  deletion_routes,   NULL,
};

// The state of the front-end. `shared` points to the other members.
struct admin_state {
    struct admin_shared shared; // first
    struct metrics metrics;
    struct operations operations;
};

static bool admin_check(const void *settings, struct error_text *why)
{
    const struct admin_options *options = settings;
    unsigned exporters;

    if (!metrics_exporters_read(options->metrics_names, &exporters)) {
        return error_set(why, "metrics_names accepts only beanstalkd and gearman");
    }
    return http1_options_check(&options->http1, why);
}

static enum status admin_start(void *memory, struct broker *broker, const void *settings,
                               const struct process_facts *facts)
{
    struct admin_state *state = memory;
    struct admin_shared *shared = &state->shared;

    shared->options = settings;
    shared->routes = route_tables;
    shared->introspect = facts->introspect;
    shared->metrics = &state->metrics;
    shared->operations = &state->operations;
    metrics_begin(shared->metrics, broker, facts, facts->introspect);
    operations_begin(shared->operations);
    http1_shared_begin(&shared->http1, &admin_user, broker, &shared->options->http1, facts,
                       admin_fields, ADMIN_FIELDS);
    shared->http1.names.note_proxies = true;
    return STATUS_OK;
}

static void admin_stop(void *memory)
{
    struct admin_state *state = memory;

    operations_end(&state->operations);
    openapi_forget(&state->shared);
    metrics_end(&state->metrics);
}

static nsec_t admin_due(const void *memory)
{
    const struct admin_state *state = memory;

    return operations_due(&state->operations);
}

static void admin_work(void *memory)
{
    struct admin_state *state = memory;

    operations_work(&state->operations);
}

// If the access rules are removed, remote callers lose their access, and their replies end.
static enum grant_progress admin_granted(void *state, struct grants *grants)
{
    const struct http1_conn *conn = state;
    enum grant_progress progress = http1_granted(state, grants);

    return !grants && conn->request && !admin_caller_is_local(conn) ? GRANT_LOST : progress;
}

const struct frontend admin_frontend = {
    .name = "admin",
    .listen = "127.0.0.1:9180",
    .alpn = "\x08http/1.1\x08http/1.0",
    .administers = true,
    .options = admin_option_rows,
    .options_size = sizeof(struct admin_options),
    .shared_size = sizeof(struct admin_state),
    .conn_size = sizeof(struct http1_conn),
    .check = admin_check,
    .start = admin_start,
    .stop = admin_stop,
    .due = admin_due,
    .work = admin_work,
    .open = http1_open,
    .granted = admin_granted,
    .feed = http1_feed,
    .filled = http1_filled,
    .eof = http1_eof,
    .expired = http1_expired,
    .limits = http1_limits,
    .pace = http1_pace,
    .overdue = http1_overdue,
    .stopping = http1_stopping,
    .holds = http1_holds,
    .facts = http1_facts,
    .commands = http1_commands,
    .close = http1_close,
};
