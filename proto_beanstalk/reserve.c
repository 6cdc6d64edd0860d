/* SPDX-License-Identifier: MIT */

// Reserving jobs: a ready job is delivered at once; otherwise the connection waits. A wait ends
// with a job, with TIMED_OUT, or with DEADLINE_SOON because the TTR of a job that the connection
// holds is about to run out.

#include "proto_beanstalk/bean_conn.h"

#include "core/base/memory.h"

// A reserve that waits is answered DEADLINE_SOON this long before the TTR of a held job runs out.
#define DEADLINE_SOON_MARGIN NSEC_PER_SEC

// The reply to a reserve-batch that is being prepared.
struct bean_batch {
    struct output head; // room for the first line, reserved with the first job
    struct output jobs; // the jobs that were taken, as they will be sent
    uint64_t position;  // the log position that all of them wait for
    uint32_t count;     // jobs taken
    uint32_t most;      // jobs asked for
};

//
// One job
//

static void bean_count_worker(struct bean_conn *conn)
{
    if (!conn->worker) {
        conn->worker = true;
        conn->shared->workers++;
    }
}

// The reply waits until the job is stored, so that no worker begins a job that a restart would
// lose.
static void bean_reply_reserved(struct bean_conn *conn, const struct job *job)
{
    wire_hold(conn->wire, broker_job_position(conn->shared->broker, job));
    bean_reply_delivery(&conn->wire->out, job);
}

// If the peer has shut down its side, the connection does not wait, because it is not known whether
// the peer could still do a job. (FLAT is worth 0.8 % of a hand-over, by tests/budget: the margin
// becomes a constant.)
static FLAT enum status bean_wait(struct bean_conn *conn, nsec_t until)
{
    nsec_t now = broker_now(conn->shared->broker).mono;

    return broker_wait(conn->session, conn->half_closed ? now : until, DEADLINE_SOON_MARGIN);
}

// Takes a job, or begins to wait until that moment, and then `*job` is NULL. The connection counts
// as a worker. The status says why neither is possible.
static inline enum status bean_take_or_wait(struct bean_conn *conn, nsec_t until,
                                            const struct job **job)
{
    enum status status;

    bean_count_worker(conn);
    status = broker_take(conn->session, job);
    if (status == STATUS_EMPTY) {
        *job = NULL;
        status = bean_wait(conn, until);
    }
    return status;
}

static void bean_reserve_until(struct bean_conn *conn, nsec_t until)
{
    const struct job *job;
    enum status status = bean_take_or_wait(conn, until, &job);

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
    bean_reserve_until(conn, NSEC_NEVER);
}

// The end of a wait that begins now.
static nsec_t bean_timeout_at(const struct bean_conn *conn, const struct bean_command *command)
{
    return nsec_add(broker_now(conn->shared->broker).mono, nsec_from_seconds(command->timeout));
}

void bean_reserve_with_timeout(struct bean_conn *conn, const struct bean_command *command)
{
    bean_reserve_until(conn, bean_timeout_at(conn, command));
}

void bean_reserve_job(struct bean_conn *conn, const struct bean_command *command)
{
    const struct job *job;
    enum status status = broker_take_id(conn->session, command->id, &job);

    if (status == STATUS_OK) {
        bean_count_worker(conn);
        // If the job was buried, there is a new record of it, which the reply waits for, too.
        wire_hold(conn->wire, broker_position(conn->shared->broker));
        bean_reply_reserved(conn, job);
    } else {
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
    }
}

//
// reserve-batch: several jobs in one reply. It waits for its first job only, and then takes the
// jobs that are ready, until it has the number that was asked for, or as many bytes as a feed may
// stage. Each job uses up the budget of the turn as a command does, so that a long batch takes
// several turns.
//

static void bean_batch_add(struct bean_conn *conn, const struct job *job)
{
    struct bean_batch *batch = conn->doing.batch;
    uint64_t position = broker_job_position(conn->shared->broker, job);

    if (batch->count == 0) {
        (void)output_reserve(&batch->head, BEAN_HEAD_MAX);
    }
    batch->position = position > batch->position ? position : batch->position;
    bean_reply_delivery(&batch->jobs, job);
    batch->count++;
}

void bean_reserve_batch(struct bean_conn *conn, const struct bean_command *command)
{
    struct bean_batch *batch = memory_alloc(sizeof *batch);
    const struct job *job;
    enum status status;

    if (!batch) {
        bean_refuse(conn->wire, BEAN_OUT_OF_MEMORY);
        return;
    }
    *batch = (struct bean_batch){.most = command->bound};
    output_init(&batch->head, conn->wire->out.pool);
    output_init(&batch->jobs, conn->wire->out.pool);
    conn->doing.batch = batch;
    status = bean_take_or_wait(conn, bean_timeout_at(conn, command), &job);
    if (status == STATUS_OK && job) {
        conn->state = BEAN_BATCHING;
        bean_batch_add(conn, job);
    } else if (status == STATUS_OK) {
        conn->state = BEAN_BATCH_BLOCKED;
    } else {
        bean_batch_discard(conn);
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
    }
}

// If there was no memory, the connection is about to be closed, and each further job would lose an
// attempt.
static bool bean_batch_wants_more(const struct bean_batch *batch)
{
    return batch->count < batch->most && output_pending(&batch->jobs) < FEED_STAGED_MAX &&
           !output_failed(&batch->head) && !output_failed(&batch->jobs);
}

enum step bean_batch_step(struct bean_conn *conn, struct feed_turn *turn)
{
    struct bean_batch *batch = conn->doing.batch;
    struct output *out = &conn->wire->out;
    const struct job *job;

    while (bean_batch_wants_more(batch)) {
        if (turn->budget == 0) {
            return STEP_AGAIN;
        }
        // If no further job can be taken, for any reason, the reply has the jobs taken so far.
        if (broker_take(conn->session, &job) != STATUS_OK) {
            break;
        }
        bean_batch_add(conn, job);
        turn->budget--;
        feed_turn_charge(turn, conn->shared->broker);
    }
    wire_hold(conn->wire, batch->position);
    bean_reply_number(&batch->head, SLICE("RESERVED-BATCH "), batch->count);
    output_append(out, &batch->head);
    output_append(out, &batch->jobs);
    bean_batch_discard(conn);
    return STEP_ON;
}

size_t bean_batch_holds(const struct bean_conn *conn)
{
    const struct bean_batch *batch = conn->doing.batch;

    return sizeof *batch + output_kept(&batch->jobs);
}

void bean_batch_undelivered(const struct bean_conn *conn, output_undelivered_fn tell, void *context)
{
    output_undelivered(&conn->doing.batch->jobs, tell, context);
}

void bean_batch_discard(struct bean_conn *conn)
{
    struct bean_batch *batch = conn->doing.batch;

    output_clear(&batch->head);
    output_clear(&batch->jobs);
    memory_free(batch, sizeof *batch);
    conn->doing.batch = NULL;
    conn->state = BEAN_LINE;
}

//
// The end of a wait
//

static void bean_on_leased(void *owner, const struct job *job)
{
    struct bean_conn *conn = owner;

    if (conn->state == BEAN_BATCH_BLOCKED) {
        conn->state = BEAN_BATCHING;
        bean_batch_add(conn, job);
    } else {
        conn->state = BEAN_LINE;
        bean_reply_reserved(conn, job);
    }
    wire_wake(conn->wire);
}

static void bean_end_wait(struct bean_conn *conn, enum bean_answer answer)
{
    if (conn->state == BEAN_BATCH_BLOCKED) {
        bean_batch_discard(conn);
    }
    conn->state = BEAN_LINE;
    bean_reply(&conn->wire->out, answer);
    wire_wake(conn->wire);
}

static void bean_on_wait_over(void *owner, enum wait_end why)
{
    bean_end_wait(owner, why == WAIT_LEASE_SOON ? BEAN_DEADLINE_SOON : BEAN_TIMED_OUT);
}

void bean_reserve_half_closed(struct bean_conn *conn)
{
    bool waits = conn->state == BEAN_BLOCKED || conn->state == BEAN_BATCH_BLOCKED;

    // broker_unwait() is false if the broker has already given the connection a job. Then
    // bean_on_leased() will reply.
    if (waits && broker_unwait(conn->session)) {
        bean_end_wait(conn, BEAN_TIMED_OUT);
    }
}

static void bean_on_nudged(void *owner)
{
    (void)owner;
    UNREACHABLE(); // a beanstalk connection never waits for a nudge
}

static void bean_on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    (void)owner;
    (void)watch;
    (void)event;
    UNREACHABLE(); // a beanstalk connection never watches jobs
}

static bool bean_on_undelivered(void *owner, uint64_t id)
{
    const struct bean_conn *conn = owner;

    return output_is_undelivered(&conn->wire->out, id) ||
           (conn->state == BEAN_BATCHING && output_is_undelivered(&conn->doing.batch->jobs, id));
}

const struct session_ops bean_session_ops = {
    .leased = bean_on_leased,
    .wait_over = bean_on_wait_over,
    .nudged = bean_on_nudged,
    .job_event = bean_on_job_event,
    .undelivered = bean_on_undelivered,
};
