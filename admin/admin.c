/* SPDX-License-Identifier: MIT */
#include "admin/admin.h"

#include "http1/conn.h"
#include "proto_common/wire.h"

#include "admin/context.h"
#include "admin/document.h"
#include "admin/metrics_names.h"
#include "admin/request.h"

#include <stddef.h>

static const struct option options[] = {
    {.name = "max_body",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct admin_options, max_body),
     .preset = "1M",
     .min = 1024,
     .max = INT64_C(1) << 30,
     .live = true,
     .effect = "Maximum body size; larger requests get 413."},
    HTTP1_OPTION_ROWS(struct admin_options),
    {.name = "hosts",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct admin_options, hosts),
     .preset = "",
     .live = true,
     .effect = "Host names that requests may use, in addition to localhost and addresses."},
    {.name = "max_series_queues",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct admin_options, max_series_queues),
     .preset = "1000",
     .max = 5000,
     .live = true,
     .effect = "Maximum number of queues with their own metrics; the others are summed up."},
    {.name = "metrics_names",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct admin_options, metrics_names),
     .preset = "",
     .live = true,
     .effect = "Exporters whose metric names are written, too: beanstalkd, gearman."},
    {.name = NULL},
};

static bool check(const void *settings, struct error_text *why)
{
    const struct admin_options *ours = settings;

    unsigned names;

    if (!metrics_names_read(ours->metrics_names, &names)) {
        return error_set(why, "metrics_names accepts only beanstalkd and gearman");
    }
    return http1_options_check(&ours->http1, why);
}

static enum status start(void *state, struct broker *broker, const void *settings,
                         const struct process_facts *facts)
{
    struct admin_shared *shared = state;

    shared->options = settings;
    shared->sight = facts->sight;
    metrics_begin(&shared->metrics, broker, facts, facts->sight);
    operations_begin(&shared->operations);
    http1_shared_begin(&shared->http1, &admin_user, broker, &shared->options->http1, facts,
                       admin_fields, ADMIN_FIELDS);
    shared->http1.names.note_proxies = true;
    return STATUS_OK;
}

static void stop(void *state)
{
    struct admin_shared *shared = state;

    operations_end(&shared->operations);
    document_forget(shared);
    metrics_end(&shared->metrics);
}

static nsec_t due(const void *state)
{
    const struct admin_shared *shared = state;

    return operations_due(&shared->operations);
}

static void work(void *state)
{
    struct admin_shared *shared = state;

    operations_work(&shared->operations);
}

// Where rules end, callers of other machines may look no more; what they were answered ends.
static enum grant_progress granted(void *state, struct grants *grants)
{
    const struct http1_conn *conn = state;
    enum grant_progress progress = http1_granted(state, grants);

    return !grants && conn->request && !admin_caller_is_here(conn) ? GRANT_LOST : progress;
}

const struct frontend admin_frontend = {
    .name = "admin",
    .listen = "127.0.0.1:9180",
    .alpn = "\x08http/1.1\x08http/1.0",
    .administers = true,
    .options = options,
    .options_size = sizeof(struct admin_options),
    .shared_size = sizeof(struct admin_shared),
    .conn_size = sizeof(struct http1_conn),
    .check = check,
    .start = start,
    .stop = stop,
    .due = due,
    .work = work,
    .open = http1_open,
    .granted = granted,
    .feed = http1_feed,
    .filled = http1_filled,
    .eof = http1_eof,
    .expired = http1_expired,
    .limits = http1_limits,
    .pace = http1_pace,
    .overdue = http1_overdue,
    .stopping = http1_stopping,
    .holds = http1_holds,
    .about = http1_about,
    .commands = http1_commands,
    .close = http1_close,
};
