/* SPDX-License-Identifier: MIT */
#include "proto_gearman/worker.h"

#include "core/base/blob.h"
#include "core/base/macros.h"

#include "proto_gearman/reply.h"

#include <string.h>

//
// Waiting for jobs
//

void gear_pre_sleep(struct gear_conn *conn, const struct gear_packet *packet)
{
    (void)packet;
    if (broker_await_nudge(conn->session) && session_leases(conn->session) > 0) {
        conn->state = GEAR_ENDING_TIMEOUTS;
    }
}

enum step gear_end_timeouts_step(struct gear_conn *conn)
{
    if (broker_end_limits(conn->session) == STATUS_MORE) {
        return STEP_AGAIN;
    }
    conn->state = GEAR_MESSAGE;
    return STEP_ON;
}

void gear_grab(struct gear_conn *conn, const struct gear_packet *packet)
{
    const struct job *job;
    enum status status;

    // A worker that asks for a job sleeps no more.
    (void)broker_unwait(conn->session);
    status = broker_take(conn->session, &job);
    if (status == STATUS_EMPTY) {
        gear_reply(conn, GEAR_NO_JOB);
    } else if (status != STATUS_OK) {
        gear_refuse_status(conn, status, GEAR_REFUSE_RESULT);
    } else if (packet->type == GEAR_GRAB_JOB) {
        gear_reply_assign(conn, GEAR_JOB_ASSIGN, job);
    } else {
        gear_reply_assign(
            conn, packet->type == GEAR_GRAB_JOB_ALL ? GEAR_JOB_ASSIGN_ALL : GEAR_JOB_ASSIGN_UNIQ,
            job);
    }
}

//
// Reports about jobs
//

// The id of the job that a packet is about; 0, which no job has, where its handle is not ours.
static uint64_t job_of(const struct gear_conn *conn, const struct gear_packet *packet)
{
    uint64_t id;

    return handle_read(&conn->shared->handles, packet->args[0], &id) ? id : 0;
}

bool gear_report_is_early(const struct gear_conn *conn, const struct gear_packet *packet)
{
    return broker_report_waits(conn->session, job_of(conn, packet));
}

// The data of the packet as a blob, of which the caller has a reference; false without memory.
static bool data_of(const struct gear_packet *packet, struct blob **data)
{
    *data = packet->blob ? blob_ref(packet->blob) : blob_copy(packet->data);
    return *data != NULL;
}

// Whether the report is about a job that is gone and that the worker has a reason to report about:
// an operator has taken it away, or it is the WORK_FAIL that libraries send behind a
// WORK_EXCEPTION. Many libraries take an ERROR for the end of the connection, or of the worker.
// APART is worth 0.5 % of a job in the background, by tests/budget.
static APART bool passes_over(struct gear_conn *conn, const struct gear_packet *packet)
{
    uint64_t id = job_of(conn, packet);
    bool is_last = packet->type == GEAR_WORK_COMPLETE || packet->type == GEAR_WORK_FAIL ||
                   packet->type == GEAR_WORK_EXCEPTION;

    if (id == 0) {
        return false;
    }
    if (packet->type == GEAR_WORK_FAIL && conn->excepted != 0 &&
        conn->excepted == (id & GEAR_EXCEPTED_MASK)) {
        conn->excepted = 0;
        return true;
    }
    return session_was_taken(conn->session, id, is_last);
}

// False where it is refused.
static bool answer(struct gear_conn *conn, const struct gear_packet *packet, enum status status,
                   enum gear_refusal not_found)
{
    if (status == STATUS_OK || (status == STATUS_NOT_FOUND && passes_over(conn, packet))) {
        return true;
    }
    gear_refuse_status(conn, status, not_found);
    return false;
}

// `result` may be NULL.
static void fail(struct gear_conn *conn, const struct gear_packet *packet, struct blob *result,
                 enum gear_refusal not_found)
{
    enum status status = broker_fail(conn->session, job_of(conn, packet), result);

    if (answer(conn, packet, status, not_found) && packet->type == GEAR_WORK_EXCEPTION) {
        conn->excepted = job_of(conn, packet) & GEAR_EXCEPTED_MASK;
    }
}

// Numbers have 32 bits here, whatever the worker writes.
static uint32_t number_in(struct slice text)
{
    return (uint32_t)gear_number_read(text);
}

// Clients get the two numbers as the worker wrote them.
void gear_work_status(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct slice numerator = packet->args[1], denominator = packet->args[2];
    struct blob *spelling = blob_new(numerator.len + 1 + denominator.len);
    struct job_event event = {
        .kind = JOB_EVENT_PROGRESS,
        .numerator = number_in(numerator),
        .denominator = number_in(denominator),
        .data = spelling,
    };

    if (!spelling) {
        gear_refuse(conn, GEAR_REFUSE_MEMORY);
        return;
    }
    memcpy(spelling->bytes, numerator.ptr, numerator.len);
    spelling->bytes[numerator.len] = 0;
    memcpy(spelling->bytes + numerator.len + 1, denominator.ptr, denominator.len);
    (void)answer(conn, packet, broker_report(conn->session, job_of(conn, packet), &event),
                 GEAR_REFUSE_RESULT);
    blob_unref(spelling);
}

void gear_work_data(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct job_event event = {
        .kind = packet->type == GEAR_WORK_DATA ? JOB_EVENT_DATA : JOB_EVENT_WARNING,
    };

    if (!data_of(packet, &event.data)) {
        gear_data_lost(conn, packet);
        gear_refuse(conn, GEAR_REFUSE_MEMORY);
        return;
    }
    (void)answer(conn, packet, broker_report(conn->session, job_of(conn, packet), &event),
                 GEAR_REFUSE_DATA);
    blob_unref(event.data);
}

void gear_report_too_large(struct gear_conn *conn, const struct gear_packet *packet, size_t size)
{
    bool is_last = packet->type == GEAR_WORK_COMPLETE || packet->type == GEAR_WORK_EXCEPTION;

    gear_data_lost(conn, packet);
    wire_refused(conn->wire, SIGHT_TOO_LARGE);
    wire_log_too_large(conn->wire, is_last ? "a result" : "a part of a result", size,
                       GEAR_MAX_JOB_SIZE);
    if (is_last) {
        fail(conn, packet, NULL, GEAR_REFUSE_RESULT);
    }
}

void gear_data_lost(struct gear_conn *conn, const struct gear_packet *packet)
{
    if (packet->type == GEAR_WORK_DATA) {
        broker_data_lost(conn->session, job_of(conn, packet));
    }
}

void gear_work_complete(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct blob *result;

    if (!data_of(packet, &result)) {
        gear_refuse(conn, GEAR_REFUSE_MEMORY);
        return;
    }
    (void)answer(conn, packet, broker_complete(conn->session, job_of(conn, packet), result),
                 GEAR_REFUSE_RESULT);
    blob_unref(result);
}

void gear_work_fail(struct gear_conn *conn, const struct gear_packet *packet)
{
    fail(conn, packet, NULL, GEAR_REFUSE_RESULT);
}

void gear_work_exception(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct blob *exception;

    if (!data_of(packet, &exception)) {
        gear_refuse(conn, GEAR_REFUSE_MEMORY);
        return;
    }
    fail(conn, packet, exception, GEAR_REFUSE_EXCEPTION);
    blob_unref(exception);
}
