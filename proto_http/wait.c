/* SPDX-License-Identifier: MIT */
#include "proto_http/wait.h"

#include "core/base/macros.h"

#include "proto_http/answer.h"
#include "proto_http/request.h"
#include "proto_http/stream.h"

// The head of an answer about the job, with the status that says what happened, or 200 where the
// client wants no other.
static struct web_answer answer_about_job(const struct web_conn *conn, unsigned status,
                                          const char *command)
{
    bool plain = conn->shared->options->status_codes == WEB_CODES_GEARMAND && command;

    return (struct web_answer){
        .status = plain ? 200 : status,
        .command = command,
        .job_id = conn->request->job_id,
        .type = WEB_BYTES,
    };
}

void web_wait_begin(struct web_conn *conn, const struct submission *submission)
{
    struct web_request *request = conn->request;
    struct job_info info;

    request->job_id = submission->id;
    request->watch = submission->watch;
    output_init(&request->parts, conn->wire->out.pool);
    if (submission->joined) {
        broker_job_info(conn->shared->broker, broker_find(conn->shared->broker, submission->id),
                        &info);
        request->result = info.data_reported ? WEB_RESULT_INCOMPLETE : WEB_RESULT_WHOLE;
    }
    if (request->wait) {
        conn->wire->deadline_at =
            nsec_add(broker_now(conn->shared->broker).mono, nsec_from_seconds(request->wait));
    }
    if (request->stream) {
        web_stream_begin(conn);
    }
}

bool web_wait_expired(struct web_conn *conn)
{
    const struct broker *broker = conn->shared->broker;
    struct web_request *request = conn->request;
    struct web_answer answer = answer_about_job(conn, 504, NULL);
    bool lives;

    if (!broker_find(broker, request->job_id)) {
        // It has ended in this turn: the event that says how is queued and will answer.
        return false;
    }
    broker_unwatch(request->watch);
    request->watch = NULL;
    lives = broker_find(broker, request->job_id) != NULL;
    if (request->stream) {
        web_stream_timeout(conn);
    } else {
        web_refuse(conn, &answer,
                   lives ? "the job is not done yet, and goes on"
                         : "the job was not done in time, and is dropped: nobody else waits");
    }
    return true;
}

void web_wait_stopped(struct web_conn *conn)
{
    struct web_request *request = conn->request;
    struct web_answer answer = answer_about_job(conn, 503, NULL);

    broker_unwatch(request->watch);
    request->watch = NULL;
    request->keep_alive = false;
    answer.extra = WEB_RETRY;
    if (request->stream) {
        web_stream_fail(conn, WEB_STOPS);
    } else {
        web_refuse(conn, &answer, WEB_STOPS);
    }
}

//
// Results
//

static void append_part(struct output *out, struct blob *part)
{
    if (part) {
        output_body(out, blob_slice(part), part);
    }
}

// Whether the result is whole so far and stays within http.max_result with that part; what was
// gathered of a larger one is freed.
static bool result_fits(struct web_conn *conn, const struct blob *part)
{
    struct web_request *request = conn->request;

    if (request->result == WEB_RESULT_WHOLE && part &&
        output_pending(&request->parts) + part->len > conn->shared->options->max_result) {
        output_clear(&request->parts);
        request->result = WEB_RESULT_TOO_LARGE;
    }
    return request->result == WEB_RESULT_WHOLE;
}

static void gather(struct web_conn *conn, struct blob *part)
{
    struct output *parts = &conn->request->parts;

    if (result_fits(conn, part)) {
        append_part(parts, part);
        if (output_failed(parts)) {
            wire_drop(conn->wire, "no memory for a result");
        }
    }
}

static void send_result(struct web_conn *conn, struct blob *last)
{
    const struct web_answer answer = answer_about_job(conn, 200, "WORK_COMPLETE");
    struct output *parts = &conn->request->parts;

    web_answer_head(conn, &answer, output_pending(parts) + (last ? last->len : 0));
    output_append(&conn->wire->out, parts);
    append_part(&conn->wire->out, last);
}

static void answer_complete(struct web_conn *conn, struct blob *last)
{
    struct web_answer answer = answer_about_job(conn, 500, NULL);

    (void)result_fits(conn, last);
    switch (conn->request->result) {
    case WEB_RESULT_INCOMPLETE:
        web_refuse(conn, &answer, "incomplete");
        break;
    case WEB_RESULT_TOO_LARGE:
        answer.status = 502;
        web_refuse(conn, &answer, "the result is larger than http.max_result");
        break;
    case WEB_RESULT_WHOLE:
        send_result(conn, last);
        break;
    }
}

static void answer_exception(struct web_conn *conn, struct blob *exception)
{
    struct web_answer answer = answer_about_job(conn, 500, "WORK_EXCEPTION");

    web_answer_head(conn, &answer, exception ? exception->len : 0);
    append_part(&conn->wire->out, exception);
}

static void answer_failed(struct web_conn *conn, unsigned status, const char *why)
{
    struct web_answer answer = answer_about_job(conn, status, "WORK_FAIL");

    if (answer.status == 200) {
        web_answer(conn, &answer, SLICE(""));
    } else {
        web_refuse(conn, &answer, why);
    }
}

// What an event of the job is to a request that is not a stream. True: the request is answered.
static bool take_event(struct web_conn *conn, const struct job_event *event)
{
    switch (event->kind) {
    case JOB_EVENT_PROGRESS:
    case JOB_EVENT_WARNING:
        return false;
    case JOB_EVENT_DATA:
        gather(conn, event->data);
        return false;
    case JOB_EVENT_RETRIED:
        // The result of the lost attempt is not part of the next one's.
        output_clear(&conn->request->parts);
        conn->request->result = WEB_RESULT_WHOLE;
        return false;
    case JOB_EVENT_COMPLETE:
        answer_complete(conn, event->data);
        return true;
    case JOB_EVENT_EXCEPTION:
        answer_exception(conn, event->data);
        return true;
    case JOB_EVENT_FAILED:
        answer_failed(conn, 500, "the job has failed");
        return true;
    case JOB_EVENT_CANCELLED:
        answer_failed(conn, 410, "the job was taken back");
        return true;
    }
    UNREACHABLE();
}

bool web_wait_event(struct web_conn *conn, const struct watch *watch, const struct job_event *event)
{
    struct web_request *request = conn->request;

    ENSURE(request && request->watch == watch);
    wire_hold(conn->wire, event->position);
    if (request->stream ? !web_stream_event(conn, event) : !take_event(conn, event)) {
        return false;
    }
    request->watch = NULL;
    return true;
}
