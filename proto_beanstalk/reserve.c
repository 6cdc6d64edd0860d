/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/reserve.h"

#include "core/base/macros.h"

// A worker is warned this long before a lease of its own ends.
#define MARGIN NSEC_PER_SEC

static void count_worker(struct bean_conn *conn)
{
    if (!conn->worker) {
        conn->worker = true;
        conn->shared->workers++;
    }
}

// The body is not shown before the job is safe: a restart would not know it.
static void reply_reserved(struct bean_conn *conn, const struct job *job)
{
    wire_hold(conn->wire, broker_job_position(conn->shared->broker, job));
    bean_reply_job(&conn->wire->out, SLICE("RESERVED "), job);
}

// Whoever sends nothing more is not waited with: nobody could tell whether it is still there.
static void reserve_until(struct bean_conn *conn, nsec_t until)
{
    nsec_t now = broker_now(conn->shared->broker).mono;
    const struct job *job;
    enum status status;

    count_worker(conn);
    status = broker_take(conn->session, &job);
    if (status == STATUS_OK) {
        reply_reserved(conn, job);
        return;
    }
    if (status == STATUS_EMPTY) {
        status = broker_wait(conn->session, conn->half_closed ? now : until, MARGIN);
    }
    if (status == STATUS_OK) {
        conn->state = BEAN_BLOCKED;
    } else {
        bean_reply_status(&conn->wire->out, status, BEAN_INTERNAL_ERROR);
    }
}

void bean_reserve(struct bean_conn *conn, const struct bean_command *command)
{
    (void)command;
    reserve_until(conn, NSEC_NEVER);
}

void bean_reserve_with_timeout(struct bean_conn *conn, const struct bean_command *command)
{
    nsec_t now = broker_now(conn->shared->broker).mono;

    reserve_until(conn, nsec_add(now, nsec_from_seconds(command->timeout)));
}

void bean_reserve_job(struct bean_conn *conn, const struct bean_command *command)
{
    const struct job *job;
    enum status status = broker_take_id(conn->session, command->id, &job);

    if (status == STATUS_OK) {
        count_worker(conn);
        // Taking a buried job is kept, too.
        wire_hold(conn->wire, broker_position(conn->shared->broker));
        reply_reserved(conn, job);
    } else {
        bean_reply_status(&conn->wire->out, status, BEAN_INTERNAL_ERROR);
    }
}

void bean_reserve_half_closed(struct bean_conn *conn)
{
    // A job that is already on its way is still answered.
    if (conn->state == BEAN_BLOCKED && broker_unwait(conn->session)) {
        conn->state = BEAN_LINE;
        bean_reply(&conn->wire->out, BEAN_TIMED_OUT);
        wire_wake(conn->wire);
    }
}

static void on_leased(void *owner, const struct job *job)
{
    struct bean_conn *conn = owner;

    conn->state = BEAN_LINE;
    reply_reserved(conn, job);
    wire_wake(conn->wire);
}

static void on_wait_over(void *owner, enum wait_end why)
{
    struct bean_conn *conn = owner;

    conn->state = BEAN_LINE;
    bean_reply(&conn->wire->out, why == WAIT_LEASE_SOON ? BEAN_DEADLINE_SOON : BEAN_TIMED_OUT);
    wire_wake(conn->wire);
}

static void on_nudged(void *owner)
{
    (void)owner;
    UNREACHABLE(); // a beanstalk connection never naps
}

static void on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    (void)owner;
    (void)watch;
    (void)event;
    UNREACHABLE(); // nor does it watch
}

const struct session_ops bean_session_ops = {
    .leased = on_leased,
    .wait_over = on_wait_over,
    .nudged = on_nudged,
    .job_event = on_job_event,
};
