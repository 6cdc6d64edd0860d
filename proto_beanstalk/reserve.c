/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/reserve.h"

#include "core/base/macros.h"

// How long before the TTR of a job that the connection holds runs out a reserve that waits is
// answered DEADLINE_SOON.
#define DEADLINE_SOON_MARGIN NSEC_PER_SEC

static void count_worker(struct bean_conn *conn)
{
    if (!conn->worker) {
        conn->worker = true;
        conn->shared->workers++;
    }
}

// The answer waits until the journal has the job: no worker is to begin one that a restart would
// not know.
static void reply_reserved(struct bean_conn *conn, const struct job *job)
{
    wire_hold(conn->wire, broker_job_position(conn->shared->broker, job));
    bean_reply_job(&conn->wire->out, SLICE("RESERVED "), job);
}

// A connection whose peer sends nothing more does not wait: whether the peer is still there to do
// the job, nobody could tell.
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
        status = broker_wait(conn->session, conn->half_closed ? now : until, DEADLINE_SOON_MARGIN);
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
        // That a job is buried no more is a record of the journal: the answer waits for it, too.
        wire_hold(conn->wire, broker_position(conn->shared->broker));
        reply_reserved(conn, job);
    } else {
        bean_reply_status(&conn->wire->out, status, BEAN_INTERNAL_ERROR);
    }
}

void bean_reserve_half_closed(struct bean_conn *conn)
{
    // Where a job has been given to this connection already, broker_unwait() says false:
    // on_leased() is still to come, and answers.
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
    UNREACHABLE(); // a beanstalk connection never waits for a nudge
}

static void on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    (void)owner;
    (void)watch;
    (void)event;
    UNREACHABLE(); // nor does it watch jobs
}

const struct session_ops bean_session_ops = {
    .leased = on_leased,
    .wait_over = on_wait_over,
    .nudged = on_nudged,
    .job_event = on_job_event,
};
