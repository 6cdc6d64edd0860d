/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/batch.h"

#include "core/base/memory.h"
#include "proto_common/output.h"

#include "proto_beanstalk/reserve.h"

struct bean_batch {
    struct output head; // room for the first line, from the first job on
    struct output jobs; // that were taken, as they will be answered
    uint64_t position;  // in the journal, that all of them wait for
    uint32_t count;     // of them
    uint32_t most;
};

static void add(struct bean_conn *conn, const struct job *job)
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
    nsec_t now = broker_now(conn->shared->broker).mono;
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
    status = bean_reserve_begin(conn, nsec_add(now, nsec_from_seconds(command->timeout)), &job);
    if (status == STATUS_OK && job) {
        conn->state = BEAN_BATCHING;
        add(conn, job);
    } else if (status == STATUS_OK) {
        conn->state = BEAN_BATCH_BLOCKED;
    } else {
        bean_batch_discard(conn);
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
    }
}

void bean_batch_leased(struct bean_conn *conn, const struct job *job)
{
    conn->state = BEAN_BATCHING;
    add(conn, job);
}

static void answer(struct bean_conn *conn)
{
    struct bean_batch *batch = conn->doing.batch;
    struct output *out = &conn->wire->out;

    wire_hold(conn->wire, batch->position);
    bean_reply_number(&batch->head, SLICE("RESERVED-BATCH "), batch->count);
    output_append(out, &batch->head);
    output_append(out, &batch->jobs);
    bean_batch_discard(conn);
}

// Where memory lacked, the connection is about to be closed: each further job would be lost, which
// spends an attempt.
static bool wants_more(const struct bean_batch *batch)
{
    return batch->count < batch->most && output_pending(&batch->jobs) < FEED_STAGED_MAX &&
           !output_failed(&batch->head) && !output_failed(&batch->jobs);
}

// Where no further job can be taken, whatever the reason, there are as many as there are.
enum step bean_batch_step(struct bean_conn *conn, struct feed_turn *turn)
{
    struct bean_batch *batch = conn->doing.batch;
    const struct job *job;

    while (wants_more(batch)) {
        if (turn->budget == 0) {
            return STEP_AGAIN;
        }
        if (broker_take(conn->session, &job) != STATUS_OK) {
            break;
        }
        add(conn, job);
        turn->budget--;
        feed_turn_charge(turn, conn->shared->broker);
    }
    answer(conn);
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

bool bean_batch_has(const struct bean_conn *conn, uint64_t job_id)
{
    return output_is_undelivered(&conn->doing.batch->jobs, job_id);
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
