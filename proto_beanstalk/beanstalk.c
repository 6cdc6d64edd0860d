/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/beanstalk.h"

#include "proto_beanstalk/bean_conn.h"

#define SECONDS_MAX 86400

static const struct option bean_option_table[] = {
    {.name = "max_job_size",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct bean_options, max_job_size),
     .default_value = "65535",
     .min = 0,
     .max = INT64_C(1) << 30,
     .live = true,
     .is_job_size = true,
     .effect = "The reply to a put with a larger body is JOB_TOO_BIG."},
    {.name = "quote_names",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct bean_options, quote_names),
     .default_value = "yes",
     .choices = "yes|no",
     .live = true,
     .effect =
         "Whether names in statistics are in quotes, as in beanstalkd 1.13, or not, as in 1.12."},
    {.name = "extensions",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct bean_options, extensions),
     .default_value = "on",
     .choices = "on|off",
     .live = true,
     .effect = "Whether commands that beanstalkd does not have, such as put-unique, are enabled."},
    {.name = "idle_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct bean_options, idle_timeout),
     .default_value = "0",
     .max = SECONDS_MAX,
     .live = true,
     .effect =
         "Seconds until a client that sends nothing and waits for nothing is dropped; 0: never."},
    {.name = "body_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct bean_options, body_timeout),
     .default_value = "0",
     .max = SECONDS_MAX,
     .live = true,
     .effect = "Seconds that each KiB of a body or line, or its rest, may take; 0: no limit."},
    {.name = NULL},
};

static enum status bean_start(void *state, struct broker *broker, const void *settings,
                              const struct process_facts *facts)
{
    struct bean_shared *shared = state;

    shared->broker = broker;
    shared->options = settings;
    shared->facts = facts;
    return STATUS_OK;
}

static void bean_stop(void *state)
{
    (void)state;
}

static uint64_t bean_count_commands(const void *state)
{
    const struct bean_shared *shared = state;
    uint64_t count = 0;

    for (size_t verb = 0; verb < BEAN_VERBS; verb++) {
        count += shared->commands[verb];
    }
    return count;
}

//
// Connections
//

// A new connection uses and watches the tube `default`, which is then kept for ever.
static enum status bean_enter_default(struct bean_conn *conn)
{
    const struct subscription_terms terms = {.limit_for = 0, .on_limit = ON_LIMIT_RETRY};
    struct broker *broker = conn->shared->broker;
    enum status status = broker_queue_hold_uncapped(broker, SLICE("default"), &conn->used);

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

static enum status bean_open(void *state, void *shared, struct wire *wire)
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
    status = bean_enter_default(conn);
    if (status != STATUS_OK) {
        broker_session_close(conn->session);
        return status;
    }
    conn->shared->connections++;
    conn->shared->total_connections++;
    return STATUS_OK;
}

static bool bean_eof(void *state)
{
    struct bean_conn *conn = state;

    conn->half_closed = true;
    bean_reserve_half_closed(conn);
    return true;
}

// The memory that the command of each state allocates.
static const struct {
    size_t (*holds)(const struct bean_conn *conn); // NULL: none
    void (*discard)(struct bean_conn *conn);
} bean_memory_of_states[BEAN_STATES] = {
    [BEAN_BODY] = {bean_body_holds, bean_body_discard},
    [BEAN_BATCH_BLOCKED] = {bean_batch_holds, bean_batch_discard},
    [BEAN_BATCHING] = {bean_batch_holds, bean_batch_discard},
    [BEAN_CLEARING] = {bean_clear_holds, bean_clear_discard},
    [BEAN_LISTING] = {bean_listing_holds, bean_listing_discard},
};

static size_t bean_holds(const void *state)
{
    const struct bean_conn *conn = state;
    size_t (*holds)(const struct bean_conn *conn) = bean_memory_of_states[conn->state].holds;

    return holds ? holds(conn) : 0;
}

static void bean_discard(struct bean_conn *conn)
{
    if (bean_memory_of_states[conn->state].discard) {
        bean_memory_of_states[conn->state].discard(conn);
    }
}

static void bean_tell_undelivered(void *context, uint64_t job_id)
{
    const struct bean_conn *conn = context;

    broker_undelivered(conn->session, job_id);
}

static void bean_close(void *state)
{
    struct bean_conn *conn = state;
    struct bean_shared *shared = conn->shared;

    shared->connections--;
    shared->producers -= conn->producer;
    shared->workers -= conn->worker;
    output_undelivered(&conn->wire->out, bean_tell_undelivered, conn);
    if (conn->state == BEAN_BATCHING) {
        bean_batch_undelivered(conn, bean_tell_undelivered, conn);
    }
    bean_discard(conn);
    broker_session_close(conn->session);
    broker_queue_drop(shared->broker, conn->used);
}

// Every connection watches `default`, even if it never reserves a job. If it never did, it loses
// nothing when it may no longer watch the tube.
static enum grant_progress bean_granted(void *state, struct grants *grants)
{
    struct bean_conn *conn = state;
    enum grant_progress progress = broker_session_grant(conn->session, grants);

    return progress == GRANT_LOST && !conn->worker ? GRANT_DONE : progress;
}

static struct frontend_facts bean_facts(const void *state)
{
    const struct bean_conn *conn = state;

    return (struct frontend_facts){.session = conn->session};
}

static void bean_expired(void *state)
{
    bean_auth_expired(state);
}

//
// Pace: how long a client may take. The protocol has no reply for a client that is too slow, so the
// connection is closed.
//

static void bean_limits(const void *settings, struct pace_limits *limits)
{
    const struct bean_options *options = settings;

    limits->idle_for = nsec_from_seconds((uint64_t)options->idle_timeout);
    limits->body_for = nsec_from_seconds((uint64_t)options->body_timeout);
}

static enum pace_kind bean_pace_kind(const struct bean_conn *conn)
{
    switch ((enum bean_state)conn->state) {
    case BEAN_LINE:
        return session_is_idle(conn->session) ? PACE_NEXT : PACE_BUSY;
    case BEAN_DISCARD:
    case BEAN_BODY:
    case BEAN_SKIP:
        return PACE_BODY;
    case BEAN_BLOCKED:
    case BEAN_BATCH_BLOCKED:
    case BEAN_BATCHING:
    case BEAN_KICKING:
    case BEAN_CLEARING:
    case BEAN_LISTING:
    case BEAN_GRANTING:
    case BEAN_AUTH_LATER:
    case BEAN_PROGRESS_NEXT:
        return PACE_BUSY;
    case BEAN_FINISHED:
    case BEAN_STATES:
        return PACE_FREE;
    }
    UNREACHABLE();
}

static struct pace bean_pace(void *state)
{
    struct bean_conn *conn = state;
    struct pace pace = {.kind = bean_pace_kind(conn), .begun = conn->begun};

    conn->begun = false;
    return pace;
}

static void bean_overdue(void *state, enum pace_result result, struct slice input)
{
    struct bean_conn *conn = state;

    (void)input;
    wire_log_closing(conn->wire, result == PACE_IDLE_OVER ? "no command for beanstalk.idle_timeout"
                                                          : "slower than beanstalk.body_timeout");
    bean_discard(conn);
    conn->state = BEAN_FINISHED;
    wire_finish(conn->wire);
}

const struct frontend beanstalk_frontend = {
    .name = "beanstalk",
    .listen = "127.0.0.1:11300",
    .options = bean_option_table,
    .options_size = sizeof(struct bean_options),
    .shared_size = sizeof(struct bean_shared),
    .conn_size = sizeof(struct bean_conn),
    .start = bean_start,
    .stop = bean_stop,
    .commands = bean_count_commands,
    .open = bean_open,
    .granted = bean_granted,
    .feed = bean_feed,
    .filled = bean_filled,
    .eof = bean_eof,
    .expired = bean_expired,
    .limits = bean_limits,
    .pace = bean_pace,
    .overdue = bean_overdue,
    .holds = bean_holds,
    .facts = bean_facts,
    .close = bean_close,
};
