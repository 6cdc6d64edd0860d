/* SPDX-License-Identifier: MIT */
#include "proto_gearman/events.h"

#include "core/base/macros.h"
#include "proto_common/unread.h"

#include "proto_gearman/conn.h"
#include "proto_gearman/listing.h"
#include "proto_gearman/reply.h"

static void on_leased(void *owner, const struct job *job)
{
    (void)owner;
    (void)job;
    UNREACHABLE(); // a Gearman connection never waits for a job: it waits for a nudge and grabs
}

static void on_wait_over(void *owner, enum wait_end why)
{
    (void)owner;
    (void)why;
    UNREACHABLE();
}

static void on_nudged(void *owner)
{
    struct gear_conn *conn = owner;

    gear_reply(conn, GEAR_NOOP);
    wire_wake(conn->wire);
}

static bool wants_exceptions(const struct gear_conn *conn)
{
    return conn->exceptions || conn->shared->options->exceptions;
}

static void tell(struct gear_conn *conn, const struct job_event *event)
{
    switch (event->kind) {
    case JOB_EVENT_PROGRESS:
        if (event->data) {
            gear_reply_about(conn, GEAR_WORK_STATUS, event->job_id, event->data);
        } else {
            gear_reply_progress(conn, event);
        }
        break;
    case JOB_EVENT_DATA:
        gear_reply_about(conn, GEAR_WORK_DATA, event->job_id, event->data);
        break;
    case JOB_EVENT_WARNING:
        gear_reply_about(conn, GEAR_WORK_WARNING, event->job_id, event->data);
        break;
    case JOB_EVENT_COMPLETE:
        gear_reply_about(conn, GEAR_WORK_COMPLETE, event->job_id, event->data);
        break;
    case JOB_EVENT_EXCEPTION:
        if (wants_exceptions(conn)) {
            gear_reply_about(conn, GEAR_WORK_EXCEPTION, event->job_id, event->data);
        } else {
            gear_reply_handle(conn, GEAR_WORK_FAIL, event->job_id);
        }
        break;
    case JOB_EVENT_FAILED:
    case JOB_EVENT_CANCELLED:
        gear_reply_handle(conn, GEAR_WORK_FAIL, event->job_id);
        break;
    case JOB_EVENT_RETRIED:
        break; // the protocol has no word for it
    }
}

static void on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    struct gear_conn *conn = owner;

    (void)watch;
    if (wire_drop_unread(conn->wire, gear_held_back(conn), conn->shared->options->max_unread)) {
        return;
    }
    gear_hold(conn, event->position);
    tell(conn, event);
    wire_wake(conn->wire);
}

static bool on_undelivered(void *owner, uint64_t id)
{
    struct gear_conn *conn = owner;

    return output_is_undelivered(&conn->wire->out, id) ||
           (conn->state == GEAR_LISTING && output_is_undelivered(gear_listing_behind(conn), id));
}

const struct session_ops gear_session_ops = {
    .leased = on_leased,
    .wait_over = on_wait_over,
    .nudged = on_nudged,
    .job_event = on_job_event,
    .undelivered = on_undelivered,
    .passes_over_taken = true,
};
