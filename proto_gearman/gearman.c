/* SPDX-License-Identifier: MIT */
#include "proto_gearman/gearman.h"

#include "core/base/macros.h"
#include "proto_common/unread.h"

#include "proto_gearman/gear_admin.h"
#include "proto_gearman/gear_conn.h"
#include "proto_gearman/gear_reply.h"

#include <stdlib.h>

#define SECONDS_MAX 86400

static const struct option gear_option_table[] = {
    {.name = "max_job_size",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct gear_options, max_job_size),
     .default_value = "64M",
     .min = 0,
     .max = INT64_C(1) << 30,
     .live = true,
     .is_job_size = true,
     .effect = "The reply to a packet with a larger workload is ARGUMENT_TOO_LARGE."},
    {.name = "max_unread",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct gear_options, max_unread),
     .default_value = "1G",
     .min = 1 << 20,
     .max = INT64_C(1) << 40,
     .live = true,
     .effect = "A client that leaves more than this of its jobs' output unread is dropped."},
    {.name = "job_retries",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct gear_options, job_retries),
     .default_value = "-1",
     .min = -1,
     .max = JOB_ATTEMPTS_MAX,
     .live = true,
     .effect =
         "How often a job may be started if its workers disconnect; 0 counts as 1, -1: no limit."},
    {.name = "worker_wakeup",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct gear_options, worker_wakeup),
     .default_value = "0",
     .min = 0,
     .max = UINT32_MAX,
     .effect = "How many sleeping workers one job wakes; 0: all workers of its function."},
    {.name = "min_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct gear_options, min_timeout),
     .default_value = "1000",
     .min = 0,
     .max = INT32_MAX,
     .live = true,
     .effect = "Milliseconds: the minimum for the time-out of CAN_DO_TIMEOUT."},
    {.name = "exceptions",
     .kind = OPTION_BOOL,
     .offset = offsetof(struct gear_options, exceptions),
     .default_value = "false",
     .live = true,
     .effect = "Whether exceptions are sent to all clients, or only to clients that ask for them."},
    {.name = "on_timeout",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct gear_options, on_timeout),
     .default_value = "retry",
     .choices = "retry|fail",
     .live = true,
     .effect = "What happens to a job when the time-out of CAN_DO_TIMEOUT is over."},
    {.name = "on_fail",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct gear_options, on_fail),
     .default_value = "drop",
     .choices = "drop|bury",
     .live = true,
     .effect = "What happens to a background job that fails."},
    {.name = "handle_prefix",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct gear_options, handle_prefix),
     .default_value = "",
     .effect = "The beginning of handles, before a colon; empty: H: and the name of the host, "
               "or of the host on which the journal was created."},
    {.name = "idle_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct gear_options, idle_timeout),
     .default_value = "0",
     .max = SECONDS_MAX,
     .live = true,
     .effect =
         "Seconds until a peer that sends nothing and waits for nothing is dropped; 0: never."},
    {.name = "body_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct gear_options, body_timeout),
     .default_value = "0",
     .max = SECONDS_MAX,
     .live = true,
     .effect = "Seconds that each KiB of a packet or line, or its rest, may take; 0: no limit."},
    {.name = NULL},
};

static bool gear_check(const void *settings, struct error_text *why)
{
    const struct gear_options *options = settings;

    return handle_prefix_is_valid(options->handle_prefix) ||
           error_set(why, "handle_prefix must not contain blanks or control bytes");
}

static enum status gear_start(void *state, struct broker *broker, const void *settings,
                              const struct process_facts *facts)
{
    struct gear_shared *shared = state;

    shared->broker = broker;
    shared->options = settings;
    shared->facts = facts;
    list_init(&shared->conns);
    if (!handles_set_prefix(&shared->handles, shared->options->handle_prefix, facts->hostname)) {
        return STATUS_BAD_NAME;
    }
    broker_set_nudges(broker, (uint32_t)shared->options->worker_wakeup);
    return STATUS_OK;
}

static void gear_name_host(void *state, const char *host)
{
    struct gear_shared *shared = state;

    handles_set_host(&shared->handles, shared->options->handle_prefix, host);
}

static void gear_stop(void *state)
{
    (void)state;
}

static uint64_t gear_count_commands(const void *state)
{
    const struct gear_shared *shared = state;

    return shared->commands;
}

//
// Events of the broker: a sleeping worker is nudged when there may be a job for it, and a client
// gets the reports about its jobs
//

static void gear_on_leased(void *owner, const struct job *job)
{
    (void)owner;
    (void)job;
    UNREACHABLE(); // a Gearman connection never waits for a job: it waits for a nudge and grabs
}

static void gear_on_wait_over(void *owner, enum wait_end why)
{
    (void)owner;
    (void)why;
    UNREACHABLE();
}

static void gear_on_nudged(void *owner)
{
    struct gear_conn *conn = owner;

    gear_reply(conn, GEAR_NOOP);
    wire_wake(conn->wire);
}

static void gear_on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    struct gear_conn *conn = owner;

    (void)watch;
    if (wire_drop_unread(conn->wire, gear_held_back(conn), conn->shared->options->max_unread)) {
        return;
    }
    gear_hold(conn, event->position);
    switch (event->kind) {
    case JOB_EVENT_PROGRESS:
        if (event->data) {
            gear_reply_work(conn, GEAR_WORK_STATUS, event->job_id, event->data);
        } else {
            gear_reply_progress(conn, event);
        }
        break;
    case JOB_EVENT_DATA:
        gear_reply_work(conn, GEAR_WORK_DATA, event->job_id, event->data);
        break;
    case JOB_EVENT_WARNING:
        gear_reply_work(conn, GEAR_WORK_WARNING, event->job_id, event->data);
        break;
    case JOB_EVENT_COMPLETE:
        gear_reply_work(conn, GEAR_WORK_COMPLETE, event->job_id, event->data);
        break;
    case JOB_EVENT_EXCEPTION:
        if (conn->exceptions || conn->shared->options->exceptions) {
            gear_reply_work(conn, GEAR_WORK_EXCEPTION, event->job_id, event->data);
        } else {
            gear_reply_handle(conn, GEAR_WORK_FAIL, event->job_id);
        }
        break;
    case JOB_EVENT_FAILED:
    case JOB_EVENT_CANCELLED:
        gear_reply_handle(conn, GEAR_WORK_FAIL, event->job_id);
        break;
    case JOB_EVENT_RETRIED:
        break; // the protocol has no packet for this
    }
    wire_wake(conn->wire);
}

static bool gear_on_undelivered(void *owner, uint64_t id)
{
    struct gear_conn *conn = owner;

    return output_is_undelivered(&conn->wire->out, id) ||
           (conn->state == GEAR_LISTING && output_is_undelivered(gear_listing_behind(conn), id));
}

static const struct session_ops gear_session_ops = {
    .leased = gear_on_leased,
    .wait_over = gear_on_wait_over,
    .nudged = gear_on_nudged,
    .job_event = gear_on_job_event,
    .undelivered = gear_on_undelivered,
    .ignores_revoked = true,
};

//
// Connections
//

static enum status gear_open(void *state, void *shared, struct wire *wire)
{
    struct gear_conn *conn = state;
    enum status status;

    conn->shared = shared;
    conn->wire = wire;
    status = broker_session_open(conn->shared->broker, &gear_session_ops, conn, CHOICE_IN_TURN,
                                 &conn->session);
    if (status == STATUS_OK) {
        conn->in_conns.is_conn = true;
        list_insert_before(conn->shared->conns.next, &conn->in_conns.node);
    }
    return status;
}

// In this protocol, a peer that has shut down its side is gone.
static bool gear_eof(void *state)
{
    (void)state;
    return false;
}

// The memory that each state allocates.
static const struct {
    size_t (*holds)(const struct gear_conn *conn); // NULL: none, or too little to be counted
    void (*discard)(struct gear_conn *conn);       // NULL: none
} gear_memory_of_states[GEAR_STATES] = {
    [GEAR_BODY] = {gear_body_holds, gear_body_discard},
    [GEAR_LISTING] = {gear_listing_holds, gear_listing_discard},
    [GEAR_DROPPING] = {NULL, gear_drop_discard},
};

static size_t gear_holds(const void *state)
{
    const struct gear_conn *conn = state;
    size_t (*holds)(const struct gear_conn *conn) = gear_memory_of_states[conn->state].holds;

    return holds ? holds(conn) : 0;
}

static void gear_discard(struct gear_conn *conn)
{
    if (gear_memory_of_states[conn->state].discard) {
        gear_memory_of_states[conn->state].discard(conn);
    }
}

static void gear_tell_undelivered(void *context, uint64_t job_id)
{
    const struct gear_conn *conn = context;

    broker_undelivered(conn->session, job_id);
}

static void gear_close(void *state)
{
    struct gear_conn *conn = state;

    output_undelivered(&conn->wire->out, gear_tell_undelivered, conn);
    if (conn->state == GEAR_LISTING) {
        output_undelivered(gear_listing_behind(conn), gear_tell_undelivered, conn);
    }
    gear_discard(conn);
    list_remove(&conn->in_conns.node);
    broker_session_close(conn->session);
    free(conn->client_id);
}

static enum grant_progress gear_granted(void *state, struct grants *grants)
{
    struct gear_conn *conn = state;

    return broker_session_grant(conn->session, grants);
}

static struct frontend_facts gear_facts(const void *state)
{
    const struct gear_conn *conn = state;

    return (struct frontend_facts){.session = conn->session, .client_id = conn->client_id};
}

static void gear_expired(void *state)
{
    gear_auth_expired(state);
}

//
// Pace: how long a peer may take. A peer whose packet takes too long gets an ERROR with the code
// TIMEOUT. A peer that is idle, or whose line takes too long, is disconnected without a reply.
//

static void gear_limits(const void *settings, struct pace_limits *limits)
{
    const struct gear_options *options = settings;

    limits->idle_for = nsec_from_seconds((uint64_t)options->idle_timeout);
    limits->body_for = nsec_from_seconds((uint64_t)options->body_timeout);
}

static enum pace_kind gear_pace_kind(const struct gear_conn *conn)
{
    switch ((enum gear_state)conn->state) {
    case GEAR_MESSAGE:
        return session_is_idle(conn->session) ? PACE_NEXT : PACE_BUSY;
    case GEAR_BODY:
    case GEAR_SKIP:
        return PACE_BODY;
    case GEAR_UNSUBSCRIBING:
    case GEAR_ENDING_TIMEOUTS:
    case GEAR_LISTING:
    case GEAR_DROPPING:
    case GEAR_GRANTING:
    case GEAR_AUTH_LATER:
        return PACE_BUSY;
    case GEAR_FINISHED:
    case GEAR_STATES:
        return PACE_FREE;
    }
    UNREACHABLE();
}

static struct pace gear_pace(void *state)
{
    struct gear_conn *conn = state;
    struct pace pace = {.kind = gear_pace_kind(conn), .begun = conn->begun};

    conn->begun = false;
    return pace;
}

// `input`: the bytes that the host has stored.
static void gear_overdue(void *state, enum pace_result result, struct slice input)
{
    struct gear_conn *conn = state;
    bool idle = result == PACE_IDLE_OVER;
    bool in_packet = conn->state != GEAR_MESSAGE || (input.len > 0 && *input.ptr == 0);

    wire_log_closing(conn->wire, idle ? "no message for gearman.idle_timeout"
                                      : "slower than gearman.body_timeout");
    if (!idle && in_packet) {
        gear_refuse(conn, GEAR_REFUSE_SLOW);
    }
    gear_discard(conn);
    conn->state = GEAR_FINISHED;
    wire_finish(conn->wire);
}

const struct frontend gearman_frontend = {
    .name = "gearman",
    .listen = "127.0.0.1:4730",
    .message_len = gear_message_len,
    .options = gear_option_table,
    .options_size = sizeof(struct gear_options),
    .shared_size = sizeof(struct gear_shared),
    .conn_size = sizeof(struct gear_conn),
    .check = gear_check,
    .start = gear_start,
    .name_host = gear_name_host,
    .commands = gear_count_commands,
    .stop = gear_stop,
    .open = gear_open,
    .granted = gear_granted,
    .feed = gear_feed,
    .filled = gear_filled,
    .eof = gear_eof,
    .expired = gear_expired,
    .limits = gear_limits,
    .pace = gear_pace,
    .overdue = gear_overdue,
    .holds = gear_holds,
    .facts = gear_facts,
    .close = gear_close,
};
