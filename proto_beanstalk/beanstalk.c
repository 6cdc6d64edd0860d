/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/beanstalk.h"

#include "proto_beanstalk/batch.h"
#include "proto_beanstalk/caller.h"
#include "proto_beanstalk/conn.h"
#include "proto_beanstalk/events.h"
#include "proto_beanstalk/pace.h"
#include "proto_beanstalk/work.h"

#include <stddef.h>

#define SECONDS_MAX 86400

static const struct option options[] = {
    {.name = "max_job_size",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct bean_options, max_job_size),
     .preset = "65535",
     .min = 0,
     .max = INT64_C(1) << 30,
     .live = true,
     .is_job_size = true,
     .effect = "A put of a larger body is answered JOB_TOO_BIG."},
    {.name = "quote_names",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct bean_options, quote_names),
     .preset = "yes",
     .choices = "yes|no",
     .live = true,
     .effect =
         "Whether names in statistics are in quotes, as in beanstalkd 1.13, or not, as in 1.12."},
    {.name = "extensions",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct bean_options, extensions),
     .preset = "on",
     .choices = "on|off",
     .live = true,
     .effect = "Whether commands are obeyed that beanstalkd does not have, such as put-unique."},
    {.name = "idle_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct bean_options, idle_timeout),
     .preset = "0",
     .max = SECONDS_MAX,
     .live = true,
     .effect =
         "Seconds that a client stays which sends nothing and waits for nothing; 0: for ever."},
    {.name = "body_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct bean_options, body_timeout),
     .preset = "0",
     .max = SECONDS_MAX,
     .live = true,
     .effect = "Seconds that each KiB of a body or line, or its rest, may take; 0: any time."},
    {.name = NULL},
};

static enum status start(void *state, struct broker *broker, const void *settings,
                         const struct process_facts *facts)
{
    struct bean_shared *shared = state;

    shared->broker = broker;
    shared->options = settings;
    shared->facts = facts;
    return STATUS_OK;
}

static void stop(void *state)
{
    (void)state;
}

// A connection uses and watches the tube `default`, which from then on is there for good.
static enum status enter_default(struct bean_conn *conn)
{
    const struct terms terms = {.limit_for = 0, .on_limit = ON_LIMIT_RETRY};
    struct broker *broker = conn->shared->broker;
    enum status status = broker_queue_hold_anyway(broker, SLICE("default"), &conn->used);

    if (status != STATUS_OK) {
        return status;
    }
    status = broker_subscribe(conn->session, SLICE("default"), &terms);
    if (status != STATUS_OK) {
        broker_queue_drop(broker, conn->used);
        return status;
    }
    broker_queue_keep(broker, conn->used, true);
    return STATUS_OK;
}

static enum status conn_open(void *state, void *shared, struct wire *wire)
{
    struct bean_conn *conn = state;
    enum status status;

    conn->shared = shared;
    conn->wire = wire;
    status = broker_session_open(conn->shared->broker, &bean_session_ops, conn, CHOICE_OLDEST,
                                 &conn->session);
    if (status != STATUS_OK) {
        return status;
    }
    status = enter_default(conn);
    if (status != STATUS_OK) {
        broker_session_close(conn->session);
        return status;
    }
    conn->shared->connections++;
    conn->shared->total_connections++;
    return STATUS_OK;
}

static bool conn_eof(void *state)
{
    struct bean_conn *conn = state;

    conn->half_closed = true;
    bean_wait_half_closed(conn);
    return true;
}

static size_t conn_holds(const void *state)
{
    return bean_work_holds(state);
}

static void tell_undelivered(void *context, uint64_t job_id)
{
    const struct bean_conn *conn = context;

    broker_undelivered(conn->session, job_id);
}

static void conn_close(void *state)
{
    struct bean_conn *conn = state;
    struct bean_shared *shared = conn->shared;

    shared->connections--;
    shared->producers -= conn->producer;
    shared->workers -= conn->worker;
    output_undelivered(&conn->wire->out, tell_undelivered, conn);
    if (conn->state == BEAN_BATCHING) {
        bean_batch_undelivered(conn, tell_undelivered, conn);
    }
    bean_work_discard(conn);
    broker_session_close(conn->session);
    broker_queue_drop(shared->broker, conn->used);
}

// Every connection watches `default`, whether it ever reserves or not: to one that never did, that
// is no loss.
static enum grant_progress conn_granted(void *state, struct grants *grants)
{
    struct bean_conn *conn = state;
    enum grant_progress progress = broker_session_grant(conn->session, grants);

    return progress == GRANT_LOST && !conn->worker ? GRANT_DONE : progress;
}

// Those that were understood.
static uint64_t commands(const void *state)
{
    const struct bean_shared *shared = state;
    uint64_t count = 0;

    for (size_t verb = 0; verb < BEAN_VERBS; verb++) {
        count += shared->commands[verb];
    }
    return count;
}

static struct frontend_about conn_about(const void *state)
{
    const struct bean_conn *conn = state;

    return (struct frontend_about){.session = conn->session};
}

static void conn_expired(void *state)
{
    bean_auth_expired(state);
}

const struct frontend beanstalk_frontend = {
    .name = "beanstalk",
    .listen = "127.0.0.1:11300",
    .options = options,
    .options_size = sizeof(struct bean_options),
    .shared_size = sizeof(struct bean_shared),
    .conn_size = sizeof(struct bean_conn),
    .start = start,
    .stop = stop,
    .open = conn_open,
    .granted = conn_granted,
    .feed = bean_feed,
    .filled = bean_filled,
    .eof = conn_eof,
    .limits = bean_limits,
    .pace = bean_pace,
    .overdue = bean_overdue,
    .holds = conn_holds,
    .about = conn_about,
    .commands = commands,
    .expired = conn_expired,
    .close = conn_close,
};
