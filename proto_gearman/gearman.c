/* SPDX-License-Identifier: MIT */
#include "proto_gearman/gearman.h"

#include "proto_gearman/ability.h"
#include "proto_gearman/admin.h"
#include "proto_gearman/body.h"
#include "proto_gearman/caller.h"
#include "proto_gearman/conn.h"
#include "proto_gearman/events.h"
#include "proto_gearman/listing.h"
#include "proto_gearman/pace.h"

#include <stddef.h>
#include <stdlib.h>

#define SECONDS_MAX 86400

static const struct option options[] = {
    {.name = "max_job_size",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct gear_options, max_job_size),
     .preset = "64M",
     .min = 0,
     .max = INT64_C(1) << 30,
     .live = true,
     .is_job_size = true,
     .effect = "A packet with a larger workload is answered ARGUMENT_TOO_LARGE."},
    {.name = "max_unread",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct gear_options, max_unread),
     .preset = "1G",
     .min = 1 << 20,
     .max = INT64_C(1) << 40,
     .live = true,
     .effect = "A client that leaves more than this of what its jobs send unread is dropped."},
    {.name = "job_retries",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct gear_options, job_retries),
     .preset = "-1",
     .min = -1,
     .max = JOB_ATTEMPTS_MAX,
     .live = true,
     .effect = "How often a job may be begun whose workers are lost; 0 counts as 1, -1: no limit."},
    {.name = "worker_wakeup",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct gear_options, worker_wakeup),
     .preset = "0",
     .min = 0,
     .max = UINT32_MAX,
     .effect = "How many sleeping workers one job wakes; 0: all of its function."},
    {.name = "min_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct gear_options, min_timeout),
     .preset = "1000",
     .min = 0,
     .max = INT32_MAX,
     .live = true,
     .effect = "Milliseconds: a shorter time-out of CAN_DO_TIMEOUT is taken for this."},
    {.name = "exceptions",
     .kind = OPTION_BOOL,
     .offset = offsetof(struct gear_options, exceptions),
     .preset = "false",
     .live = true,
     .effect = "Exceptions are told to all clients, not only to those that ask for them."},
    {.name = "on_timeout",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct gear_options, on_timeout),
     .preset = "retry",
     .choices = "retry|fail",
     .live = true,
     .effect = "What becomes of a job when the time-out of CAN_DO_TIMEOUT is over."},
    {.name = "on_fail",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct gear_options, on_fail),
     .preset = "drop",
     .choices = "drop|bury",
     .live = true,
     .effect = "What becomes of a background job that fails."},
    {.name = "handle_prefix",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct gear_options, handle_prefix),
     .preset = "",
     .effect = "What handles begin with, before a colon; empty: H: and the name of the host, "
               "with a journal of that on which it began."},
    {.name = "idle_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct gear_options, idle_timeout),
     .preset = "0",
     .max = SECONDS_MAX,
     .live = true,
     .effect = "Seconds that a peer stays which sends nothing and waits for nothing; 0: for ever."},
    {.name = "body_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct gear_options, body_timeout),
     .preset = "0",
     .max = SECONDS_MAX,
     .live = true,
     .effect = "Seconds that each KiB of a packet or line, or its rest, may take; 0: any time."},
    {.name = NULL},
};

static bool check(const void *settings, struct error_text *why)
{
    const struct gear_options *ours = settings;

    if (!handle_prefix_is_valid(ours->handle_prefix)) {
        return error_set(why, "handle_prefix: a handle has no blanks and no control bytes");
    }
    return true;
}

static enum status start(void *state, struct broker *broker, const void *settings,
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

static void name_host(void *state, const char *host)
{
    struct gear_shared *shared = state;

    handles_set_host(&shared->handles, shared->options->handle_prefix, host);
}

static void stop(void *state)
{
    (void)state;
}

static enum status conn_open(void *state, void *shared, struct wire *wire)
{
    struct gear_conn *conn = state;
    enum status status;

    conn->shared = shared;
    conn->wire = wire;
    status = broker_session_open(conn->shared->broker, &gear_session_ops, conn, CHOICE_IN_TURN,
                                 &conn->session);
    if (status == STATUS_OK) {
        conn->place.is_conn = true;
        list_insert_before(conn->shared->conns.next, &conn->place.node);
    }
    return status;
}

// Whoever sends nothing more has gone, to this protocol.
static bool conn_eof(void *state)
{
    (void)state;
    return false;
}

static size_t conn_holds(const void *state)
{
    const struct gear_conn *conn = state;

    if (conn->state == GEAR_BODY) {
        return gear_body_holds(conn);
    }
    return conn->state == GEAR_LISTING ? gear_listing_holds(conn) : 0;
}

static void discard_work(struct gear_conn *conn)
{
    switch ((enum gear_state)conn->state) {
    case GEAR_BODY:
        gear_body_discard(conn);
        break;
    case GEAR_LISTING:
        gear_listing_discard(conn);
        break;
    case GEAR_DROPPING:
        gear_drop_discard(conn);
        break;
    case GEAR_MESSAGE:
    case GEAR_SKIP:
    case GEAR_UNSUBSCRIBING:
    case GEAR_ENDING_TIMEOUTS:
    case GEAR_GRANTING:
    case GEAR_LATER:
    case GEAR_FINISHED:
    case GEAR_STATES:
        break;
    }
}

static void tell_undelivered(void *context, uint64_t job_id)
{
    const struct gear_conn *conn = context;

    broker_undelivered(conn->session, job_id);
}

static void conn_close(void *state)
{
    struct gear_conn *conn = state;

    output_undelivered(&conn->wire->out, tell_undelivered, conn);
    if (conn->state == GEAR_LISTING) {
        output_undelivered(gear_listing_behind(conn), tell_undelivered, conn);
    }
    discard_work(conn);
    list_remove(&conn->place.node);
    broker_session_close(conn->session);
    free(conn->client_id);
}

static enum grant_progress conn_granted(void *state, struct grants *grants)
{
    struct gear_conn *conn = state;

    return broker_session_grant(conn->session, grants);
}

static uint64_t commands(const void *state)
{
    const struct gear_shared *shared = state;

    return shared->commands;
}

static struct frontend_about conn_about(const void *state)
{
    const struct gear_conn *conn = state;

    return (struct frontend_about){.session = conn->session, .client_id = conn->client_id};
}

static void conn_expired(void *state)
{
    gear_auth_expired(state);
}

const struct frontend gearman_frontend = {
    .name = "gearman",
    .listen = "127.0.0.1:4730",
    .message_len = gear_message_len,
    .options = options,
    .options_size = sizeof(struct gear_options),
    .shared_size = sizeof(struct gear_shared),
    .conn_size = sizeof(struct gear_conn),
    .check = check,
    .start = start,
    .name_host = name_host,
    .stop = stop,
    .open = conn_open,
    .granted = conn_granted,
    .feed = gear_feed,
    .filled = gear_filled,
    .eof = conn_eof,
    .expired = conn_expired,
    .limits = gear_limits,
    .pace = gear_pace,
    .overdue = gear_overdue,
    .holds = conn_holds,
    .about = conn_about,
    .commands = commands,
    .close = conn_close,
};
