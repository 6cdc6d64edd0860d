/* SPDX-License-Identifier: MIT */
#include "proto_http/wait.h"

#include "core/base/macros.h"
#include "http1/http1_answer.h"
#include "http1/http1_conn.h"
#include "http1/user.h"

#include "proto_http/stream.h"
#include "proto_http/web_answer.h"
#include "proto_http/web_job.h"
#include "proto_http/web_request.h"

// The head of an answer about the job, with `status`, or with 200 if http.status_codes says so.
static struct web_answer answer_about_job(const struct http1_conn *conn, unsigned status,
                                          const char *command)
{
    bool plain = web_shared(conn)->options->status_codes == WEB_CODES_GEARMAND && command;

    return (struct web_answer){
        .status = plain ? 200 : status,
        .command = command,
        .job_id = web_request(conn)->job_id,
        .type = HTTP1_BYTES,
    };
}

// Sets the deadline for a comment: a stream is never silent for longer than HTTP1_QUIET_FOR.
static void await_comment(struct http1_conn *conn)
{
    nsec_t at = nsec_add(broker_now(conn->shared->broker).mono, HTTP1_QUIET_FOR);
    nsec_t until = web_request(conn)->until;

    conn->wire->deadline_at = at < until ? at : until;
}

void web_wait_begin(struct http1_conn *conn, const struct submission *submission)
{
    struct web_request *request = web_request(conn);
    struct job_info info;

    request->job_id = submission->id;
    request->watch = submission->watch;
    output_init(&request->parts, conn->wire->out.pool);
    if (submission->joined) {
        broker_job_info(conn->shared->broker, broker_find(conn->shared->broker, submission->id),
                        &info);
        request->result = info.data_reported ? WEB_RESULT_INCOMPLETE : WEB_RESULT_WHOLE;
    }
    request->until = request->wait ? nsec_add(broker_now(conn->shared->broker).mono,
                                              nsec_from_seconds(request->wait))
                                   : NSEC_NEVER;
    conn->wire->deadline_at = request->until;
    if (request->stream) {
        web_stream_begin(conn);
        await_comment(conn);
    }
}

bool web_wait_expired(struct http1_conn *conn)
{
    const struct broker *broker = conn->shared->broker;
    struct web_request *request = web_request(conn);
    struct web_answer answer = answer_about_job(conn, 504, NULL);
    bool lives;

    if (request->stream && broker_now(broker).mono < request->until) {
        web_stream_comment(conn);
        await_comment(conn);
        return false;
    }
    if (!request->watch || !broker_find(broker, request->job_id)) {
        // The job has ended: an event that says how is queued, and will be the answer.
        return false;
    }
    if (request->target.place == WEB_PLACE_JOB) {
        web_job_expired(conn);
        return true;
    }
    broker_unwatch(request->watch);
    request->watch = NULL;
    lives = broker_find(broker, request->job_id) != NULL;
    if (request->stream) {
        return web_stream_timeout(conn);
    } else {
        web_refuse(
            conn, &answer,
            lives ? "the wait timed out, but the job has not ended"
                  : "the wait timed out, and the job was dropped: no other client waits for it");
    }
    return true;
}

void web_wait_stopped(struct http1_conn *conn)
{
    struct web_request *request = web_request(conn);
    struct web_answer answer = answer_about_job(conn, 503, NULL);

    if (request->watch) {
        broker_unwatch(request->watch);
        request->watch = NULL;
    }
    request->http1.keep_alive = false;
    answer.extra = HTTP1_RETRY;
    if (request->stream) {
        web_stream_fail(conn, HTTP1_STOPS);
    } else {
        web_refuse(conn, &answer, HTTP1_STOPS);
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

// Whether the result is whole so far and stays within http.max_result with that part; if it does
// not, the parts gathered so far are freed.
static bool result_fits(struct http1_conn *conn, const struct blob *part)
{
    struct web_request *request = web_request(conn);

    if (request->result == WEB_RESULT_WHOLE && part &&
        output_pending(&request->parts) + part->len > web_shared(conn)->options->max_result) {
        output_clear(&request->parts);
        request->result = WEB_RESULT_TOO_LARGE;
    }
    return request->result == WEB_RESULT_WHOLE;
}

static void answer_complete(struct http1_conn *conn, struct blob *last)
{
    struct web_answer answer = answer_about_job(conn, 500, NULL);
    struct output *parts = &web_request(conn)->parts;

    (void)result_fits(conn, last);
    switch (web_request(conn)->result) {
    case WEB_RESULT_INCOMPLETE:
        web_refuse(conn, &answer, "incomplete");
        break;
    case WEB_RESULT_TOO_LARGE:
        wire_log_too_large(conn->wire, "a result", 0, "http.max_result");
        answer.status = 502;
        web_refuse(conn, &answer, "the result is larger than http.max_result");
        break;
    case WEB_RESULT_WHOLE:
        answer = answer_about_job(conn, 200, "WORK_COMPLETE");
        web_answer_head(conn, &answer, output_pending(parts) + (last ? last->len : 0));
        output_append(&conn->wire->out, parts);
        append_part(&conn->wire->out, last);
        break;
    }
}

static void answer_failed(struct http1_conn *conn, unsigned status, const char *why)
{
    struct web_answer answer = answer_about_job(conn, status, "WORK_FAIL");

    if (answer.status == 200) {
        web_answer(conn, &answer, SLICE(""));
    } else {
        web_refuse(conn, &answer, why);
    }
}

// Handles an event for a request that is not a stream. True: the request is answered.
static bool wait_take_event(struct http1_conn *conn, const struct job_event *event)
{
    struct output *parts = &web_request(conn)->parts;
    struct web_answer answer;

    switch (event->kind) {
    case JOB_EVENT_PROGRESS:
    case JOB_EVENT_WARNING:
        return false;
    case JOB_EVENT_DATA:
        if (result_fits(conn, event->data)) {
            append_part(parts, event->data);
            if (output_failed(parts)) {
                wire_drop(conn->wire, "no memory for a result");
            }
        }
        return false;
    case JOB_EVENT_RETRIED:
        // The result of the lost attempt does not belong to the next.
        output_clear(parts);
        web_request(conn)->result = WEB_RESULT_WHOLE;
        return false;
    case JOB_EVENT_COMPLETE:
        answer_complete(conn, event->data);
        return true;
    case JOB_EVENT_EXCEPTION:
        answer = answer_about_job(conn, 500, "WORK_EXCEPTION");
        web_answer_head(conn, &answer, event->data ? event->data->len : 0);
        append_part(&conn->wire->out, event->data);
        return true;
    case JOB_EVENT_FAILED:
        answer_failed(conn, 500, "the job has failed");
        return true;
    case JOB_EVENT_CANCELLED:
        answer_failed(conn, 410, "the job was cancelled");
        return true;
    }
    UNREACHABLE();
}

enum http1_progress web_wait_step(struct http1_conn *conn, struct feed_turn *turn)
{
    bool ended;

    if (web_events_empty(&web_request(conn)->events)) {
        return HTTP1_BLOCKED;
    }
    if (!http1_slice_begins(conn, turn)) {
        return HTTP1_AGAIN;
    }
    (void)web_stream_step(conn, &ended);
    return ended ? HTTP1_ENDED : HTTP1_WROTE;
}

static void wait_on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    struct http1_conn *conn = owner;
    struct web_request *request = web_request(conn);
    bool answered;

    ENSURE(conn->request && request->watch == watch);
    if (request->target.place == WEB_PLACE_JOB) {
        answered = web_job_event(conn, event);
    } else if (request->stream) {
        answered = web_stream_event(conn, event);
        // The watch ended with the job, whether or not the connection could be told.
        request->watch = event->kind >= JOB_EVENT_COMPLETE ? NULL : request->watch;
    } else {
        wire_hold(conn->wire, event->position);
        answered = wait_take_event(conn, event);
        request->watch = answered ? NULL : request->watch;
    }
    if (answered) {
        http1_answered(conn);
    }
    wire_wake(conn->wire);
}

static void wait_on_leased(void *owner, const struct job *job)
{
    (void)owner;
    (void)job;
    UNREACHABLE(); // this session takes no job
}

static void wait_on_wait_over(void *owner, enum wait_end why)
{
    (void)owner;
    (void)why;
    UNREACHABLE();
}

static void wait_on_nudged(void *owner)
{
    (void)owner;
    UNREACHABLE();
}

const struct session_ops web_session_ops = {
    .leased = wait_on_leased,
    .wait_over = wait_on_wait_over,
    .nudged = wait_on_nudged,
    .job_event = wait_on_job_event,
};
