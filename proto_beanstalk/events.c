/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/events.h"

#include "core/base/macros.h"

#include "proto_beanstalk/batch.h"
#include "proto_beanstalk/reserve.h"

static void on_leased(void *owner, const struct job *job)
{
    struct bean_conn *conn = owner;

    if (conn->state == BEAN_BATCH_BLOCKED) {
        bean_batch_leased(conn, job);
    } else {
        conn->state = BEAN_LINE;
        bean_reply_reserved(conn, job);
    }
    wire_wake(conn->wire);
}

static void end_wait(struct bean_conn *conn, enum bean_answer answer)
{
    if (conn->state == BEAN_BATCH_BLOCKED) {
        bean_batch_discard(conn);
    }
    conn->state = BEAN_LINE;
    bean_reply(&conn->wire->out, answer);
    wire_wake(conn->wire);
}

static void on_wait_over(void *owner, enum wait_end why)
{
    end_wait(owner, why == WAIT_LEASE_SOON ? BEAN_DEADLINE_SOON : BEAN_TIMED_OUT);
}

void bean_wait_half_closed(struct bean_conn *conn)
{
    bool waits = conn->state == BEAN_BLOCKED || conn->state == BEAN_BATCH_BLOCKED;

    // Where a job has been given to this connection already, broker_unwait() says false:
    // on_leased() is still to come, and answers.
    if (waits && broker_unwait(conn->session)) {
        end_wait(conn, BEAN_TIMED_OUT);
    }
}

static void on_nudged(void *owner)
{
    (void)owner;
    UNREACHABLE(); // a beanstalk connection never waits for a nudge
}

static void on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    (void)owner;
    (void)watch;
    (void)event;
    UNREACHABLE(); // nor does it watch jobs
}

static bool on_undelivered(void *owner, uint64_t id)
{
    const struct bean_conn *conn = owner;

    return output_is_undelivered(&conn->wire->out, id) ||
           (conn->state == BEAN_BATCHING && bean_batch_has(conn, id));
}

const struct session_ops bean_session_ops = {
    .leased = on_leased,
    .wait_over = on_wait_over,
    .nudged = on_nudged,
    .job_event = on_job_event,
    .undelivered = on_undelivered,
};
