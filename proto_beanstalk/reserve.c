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
void bean_reply_reserved(struct bean_conn *conn, const struct job *job)
{
    wire_hold(conn->wire, broker_job_position(conn->shared->broker, job));
    bean_reply_delivery(&conn->wire->out, job);
}

// A connection whose peer sends nothing more does not wait: whether the peer is still there to do
// the job, nobody could tell. (FLAT is worth 0.8 % of a hand-over, by tests/budget: the margin is a
// constant then.)
static FLAT enum status begin_wait(struct bean_conn *conn, nsec_t until)
{
    nsec_t now = broker_now(conn->shared->broker).mono;

    return broker_wait(conn->session, conn->half_closed ? now : until, DEADLINE_SOON_MARGIN);
}

static inline enum status begin(struct bean_conn *conn, nsec_t until, const struct job **job)
{
    enum status status;

    count_worker(conn);
    status = broker_take(conn->session, job);
    if (status == STATUS_EMPTY) {
        *job = NULL;
        status = begin_wait(conn, until);
    }
    return status;
}

enum status bean_reserve_begin(struct bean_conn *conn, nsec_t until, const struct job **job)
{
    return begin(conn, until, job);
}

static void reserve_until(struct bean_conn *conn, nsec_t until)
{
    const struct job *job;
    enum status status = begin(conn, until, &job);

    if (status != STATUS_OK) {
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
    } else if (job) {
        bean_reply_reserved(conn, job);
    } else {
        conn->state = BEAN_BLOCKED;
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
        bean_reply_reserved(conn, job);
    } else {
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
    }
}
