/* SPDX-License-Identifier: MIT */

// The packets of workers: the functions that they offer, requests for jobs, and reports.

#include "proto_gearman/gear_conn.h"

#include "core/base/macros.h"

#include "proto_gearman/gear_reply.h"

#include <string.h>

//
// Functions
//

// For how long a job of the function may be held; 0: no limit. The time-out of CAN_DO_TIMEOUT is in
// milliseconds; a text that is not a number above 0 means no limit. Some libraries send seconds by
// mistake, so there is a minimum.
static nsec_t gear_limit_for(const struct gear_conn *conn, const struct gear_packet *packet)
{
    const int64_t most = NSEC_NEVER / NSEC_PER_MSEC;
    const int64_t least = conn->shared->options->min_timeout;
    int64_t limit = packet->type == GEAR_CAN_DO_TIMEOUT ? gear_number_read(packet->args[1]) : 0;

    if (limit <= 0) {
        return 0;
    }
    if (limit < least) {
        limit = least;
    }
    return (limit < most ? limit : most) * NSEC_PER_MSEC;
}

void gear_can_do(struct gear_conn *conn, const struct gear_packet *packet)
{
    bool fails = conn->shared->options->on_timeout == GEAR_TIMEOUT_FAILS;
    const struct subscription_terms terms = {
        .limit_for = gear_limit_for(conn, packet),
        .on_limit = fails ? ON_LIMIT_FAIL : ON_LIMIT_RETRY,
    };
    enum status status = broker_subscribe(conn->session, packet->args[0], &terms);

    if (status != STATUS_OK) {
        gear_refuse_status(conn, status, GEAR_REFUSE_RESULT);
    }
}

void gear_cant_do(struct gear_conn *conn, const struct gear_packet *packet)
{
    (void)broker_unsubscribe(conn->session, packet->args[0], false);
}

void gear_reset_abilities(struct gear_conn *conn, const struct gear_packet *packet)
{
    (void)packet;
    conn->state = GEAR_UNSUBSCRIBING;
}

enum step gear_unsubscribe_step(struct gear_conn *conn, struct feed_turn *turn)
{
    (void)turn;
    if (broker_unsubscribe_all(conn->session) == STATUS_MORE) {
        return STEP_AGAIN;
    }
    conn->state = GEAR_MESSAGE;
    return STEP_ON;
}

//
// Requests for jobs
//

void gear_pre_sleep(struct gear_conn *conn, const struct gear_packet *packet)
{
    (void)packet;
    if (broker_await_nudge(conn->session) && session_leases(conn->session) > 0) {
        conn->state = GEAR_ENDING_TIMEOUTS;
    }
}

enum step gear_end_timeouts_step(struct gear_conn *conn, struct feed_turn *turn)
{
    (void)turn;
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

    // A worker that asks for a job no longer sleeps.
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
// Reports
//

// The id of the job that the packet is about; 0, which is no job's id: the handle is not one of
// ours.
static uint64_t gear_reported_id(const struct gear_conn *conn, const struct gear_packet *packet)
{
    uint64_t id;

    return handle_read(&conn->shared->handles, packet->args[0], &id) ? id : 0;
}

bool gear_report_is_early(const struct gear_conn *conn, const struct gear_packet *packet)
{
    return broker_report_waits(conn->session, gear_reported_id(conn, packet));
}

// The data of the packet as a blob, of which the caller gets a reference. False: no memory.
static bool gear_report_data(const struct gear_packet *packet, struct blob **data)
{
    *data = packet->blob ? blob_ref(packet->blob) : blob_copy(packet->data);
    return *data != NULL;
}

// Whether the job is gone and the worker cannot know that: an operator has taken it away, or the
// packet is the WORK_FAIL that libraries send after a WORK_EXCEPTION. Such a report gets no ERROR,
// because many libraries end the connection, or the worker, when they receive one. APART is worth
// 0.5 % of a background job, by tests/budget.
static APART bool gear_ignores_report(struct gear_conn *conn, const struct gear_packet *packet)
{
    uint64_t id = gear_reported_id(conn, packet);
    bool is_last = packet->type == GEAR_WORK_COMPLETE || packet->type == GEAR_WORK_FAIL ||
                   packet->type == GEAR_WORK_EXCEPTION;

    if (id == 0) {
        return false;
    }
    if (packet->type == GEAR_WORK_FAIL && conn->exception_id != 0 &&
        conn->exception_id == (id & GEAR_EXCEPTION_MASK)) {
        conn->exception_id = 0;
        return true;
    }
    return session_job_revoked(conn->session, id, is_last);
}

// Replies with an ERROR, and returns false, if the report is refused. `not_found` stands for
// STATUS_NOT_FOUND.
static bool gear_accept_report(struct gear_conn *conn, const struct gear_packet *packet,
                               enum status status, enum gear_refusal not_found)
{
    if (status == STATUS_OK || (status == STATUS_NOT_FOUND && gear_ignores_report(conn, packet))) {
        return true;
    }
    gear_refuse_status(conn, status, not_found);
    return false;
}

// `result` may be NULL.
static void gear_fail_job(struct gear_conn *conn, const struct gear_packet *packet,
                          struct blob *result, enum gear_refusal not_found)
{
    uint64_t id = gear_reported_id(conn, packet);
    enum status status = broker_fail(conn->session, id, result);

    if (gear_accept_report(conn, packet, status, not_found) &&
        packet->type == GEAR_WORK_EXCEPTION) {
        conn->exception_id = id & GEAR_EXCEPTION_MASK;
    }
}

// The broker stores the numbers in 32 bits; clients get them as the worker wrote them.
void gear_work_status(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct slice numerator = packet->args[1], denominator = packet->args[2];
    struct blob *numbers = blob_new(numerator.len + 1 + denominator.len);
    struct job_event event = {
        .kind = JOB_EVENT_PROGRESS,
        .numerator = (uint32_t)gear_number_read(numerator),
        .denominator = (uint32_t)gear_number_read(denominator),
        .data = numbers,
    };

    if (!numbers) {
        gear_refuse(conn, GEAR_REFUSE_MEMORY);
        return;
    }
    memcpy(numbers->bytes, numerator.ptr, numerator.len);
    numbers->bytes[numerator.len] = 0;
    memcpy(numbers->bytes + numerator.len + 1, denominator.ptr, denominator.len);
    (void)gear_accept_report(conn, packet,
                             broker_report(conn->session, gear_reported_id(conn, packet), &event),
                             GEAR_REFUSE_RESULT);
    blob_unref(numbers);
}

void gear_work_data(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct job_event event = {
        .kind = packet->type == GEAR_WORK_DATA ? JOB_EVENT_DATA : JOB_EVENT_WARNING,
    };

    if (!gear_report_data(packet, &event.data)) {
        gear_data_lost(conn, packet);
        gear_refuse(conn, GEAR_REFUSE_MEMORY);
        return;
    }
    (void)gear_accept_report(conn, packet,
                             broker_report(conn->session, gear_reported_id(conn, packet), &event),
                             GEAR_REFUSE_DATA);
    blob_unref(event.data);
}

void gear_report_too_large(struct gear_conn *conn, const struct gear_packet *packet, size_t size)
{
    bool is_last = packet->type == GEAR_WORK_COMPLETE || packet->type == GEAR_WORK_EXCEPTION;

    gear_data_lost(conn, packet);
    wire_refused(conn->wire, REFUSAL_TOO_LARGE);
    wire_log_too_large(conn->wire, is_last ? "a result" : "a part of a result", size,
                       GEAR_MAX_JOB_SIZE);
    if (is_last) {
        gear_fail_job(conn, packet, NULL, GEAR_REFUSE_RESULT);
    }
}

void gear_data_lost(struct gear_conn *conn, const struct gear_packet *packet)
{
    if (packet->type == GEAR_WORK_DATA) {
        broker_data_lost(conn->session, gear_reported_id(conn, packet));
    }
}

void gear_work_complete(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct blob *result;

    if (!gear_report_data(packet, &result)) {
        gear_refuse(conn, GEAR_REFUSE_MEMORY);
        return;
    }
    (void)gear_accept_report(conn, packet,
                             broker_complete(conn->session, gear_reported_id(conn, packet), result),
                             GEAR_REFUSE_RESULT);
    blob_unref(result);
}

void gear_work_fail(struct gear_conn *conn, const struct gear_packet *packet)
{
    gear_fail_job(conn, packet, NULL, GEAR_REFUSE_RESULT);
}

void gear_work_exception(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct blob *exception;

    if (!gear_report_data(packet, &exception)) {
        gear_refuse(conn, GEAR_REFUSE_MEMORY);
        return;
    }
    gear_fail_job(conn, packet, exception, GEAR_REFUSE_EXCEPTION);
    blob_unref(exception);
}
