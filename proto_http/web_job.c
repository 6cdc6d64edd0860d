/* SPDX-License-Identifier: MIT */
#include "proto_http/web_job.h"

#include "core/base/digits.h"
#include "core/result.h"
#include "http1/caller.h"
#include "http1/request_target.h"

#include "proto_http/accept.h"
#include "proto_http/web_answer.h"
#include "proto_http/web_request.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define NO_STORE "Cache-Control: no-store\r\n"
// Of longer data, only the length is in the JSON.
#define DATA_SHOWN_MAX ((size_t)64 * 1024)

static const char *const states[] = {
    [JOB_DELAYED] = "delayed",
    [JOB_READY] = "ready",
    [JOB_RESERVED] = "running",
    [JOB_BURIED] = "buried",
};

static const char *const ends[] = {
    [RESULT_COMPLETE] = "complete",
    [RESULT_FAILED] = "failed",
    [RESULT_EXCEPTION] = "exception",
};

static const char *const kinds_kept[] = {
    [RESULT_WHOLE] = "whole",
    [RESULT_TOO_LARGE] = "too large",
    [RESULT_LOST] = "lost",
};

static json_t *describe_job(const struct http1_conn *conn, const struct job_info *info)
{
    const struct web_target *target = &web_request(conn)->target;

    return json_pack("{s:s%, s:o, s:s, s:I, s:{s:I, s:I}, s:I, s:I, s:I}", "handle", target->name,
                     target->name_len, "function", web_name_json(queue_name(info->queue)), "state",
                     states[info->state], "priority", (json_int_t)info->pri, "progress",
                     "numerator", (json_int_t)info->numerator, "denominator",
                     (json_int_t)info->denominator, "created",
                     (json_int_t)(info->created_at / NSEC_PER_SEC), "waiting",
                     (json_int_t)info->watches, "attempts", (json_int_t)info->attempts);
}

// A caller who may not observe the queue learns only how the job has ended.
static bool may_read(const struct http1_conn *conn, const struct result *result)
{
    return session_may_by_name(conn->session, MAY_OBSERVE, result->queue);
}

// Adds the result; long data must be requested separately.
static bool job_add_result(const struct http1_conn *conn, json_t *object,
                           const struct result *result)
{
    json_t *told = json_pack("{s:s, s:I, s:I, s:s, s:I}", "end", ends[result->end], "ended",
                             (json_int_t)(result->ended_ms / 1000), "until",
                             (json_int_t)(result->until_at / NSEC_PER_SEC), "kept",
                             kinds_kept[result->data_state], "bytes", (json_int_t)result->data.len);
    bool shown = may_read(conn, result) && result->data_state == RESULT_WHOLE &&
                 result->data.len <= DATA_SHOWN_MAX;

    if (told && shown && !web_data_json(told, result->data)) {
        json_decref(told);
        return false;
    }
    return json_object_set_new(object, "result", told) == 0;
}

// The job or its result may have been removed; `state` then says how the job has ended.
static void answer_state(struct http1_conn *conn, const struct job_info *info,
                         const struct result *result, const char *state)
{
    const struct http1_reply reply = {.status = 200, .type = HTTP1_JSON, .extra = NO_STORE};
    const struct web_target *target = &web_request(conn)->target;
    char *text;
    json_t *object = info ? describe_job(conn, info)
                          : json_pack("{s:s%, s:s}", "handle", target->name, target->name_len,
                                      "state", result ? ends[result->end] : state);

    if (object && !info && result &&
        json_object_set_new(object, "function", web_name_json(result->queue)) != 0) {
        json_decref(object);
        object = NULL;
    }
    if (object && result && !job_add_result(conn, object, result)) {
        json_decref(object);
        object = NULL;
    }
    text = object ? json_dumps(object, 0) : NULL;
    if (text) {
        http1_reply(conn, &reply, slice_str(text));
    } else {
        http1_refuse_memory(conn);
    }
    free(text);
    json_decref(object);
}

// Answers with the data alone, in the form that a foreground request would receive.
static void answer_raw(struct http1_conn *conn, const struct result *result)
{
    static const char *const commands[] = {
        [RESULT_COMPLETE] = "WORK_COMPLETE",
        [RESULT_FAILED] = "WORK_FAIL",
        [RESULT_EXCEPTION] = "WORK_EXCEPTION",
    };
    struct web_answer answer = {.status = 200, .type = HTTP1_BYTES, .extra = NO_STORE};

    if (!result) {
        http1_refuse_status(conn, 404, "no result of such a job");
    } else if (!may_read(conn, result)) {
        http1_caller_refuse(conn, result->queue);
    } else if (result->data_state != RESULT_WHOLE) {
        http1_refuse_status(conn, 410, "the data of the result was not kept");
    } else {
        answer.command = commands[result->end];
        answer.job_id = result->id;
        web_answer_head(conn, &answer, result->data.len);
        output_write(&conn->wire->out, result->data);
    }
}

// Handles can be guessed, and jobs of other protocols have handles, too, so that rights for the
// queue are checked. A caller who may submit to it may see its jobs: they could be the caller's.
static bool may_know(const struct http1_conn *conn, struct slice queue)
{
    const struct session *session = conn->session;

    return web_function_offered(web_shared(conn), queue) &&
           (session_may_by_name(session, MAY_OBSERVE, queue) ||
            session_may_by_name(session, MAY_SUBMIT, queue) ||
            (conn->request->method == HTTP1_DELETE &&
             session_may_by_name(session, MAY_CANCEL, queue)));
}

// The part of a job's state and result that the caller may read.
struct job_known {
    bool lives;
    bool ended; // its result is retained
    struct job_info info;
    struct result result;
};

static void job_known_of(const struct http1_conn *conn, uint64_t id, struct job_known *known)
{
    const struct broker *broker = conn->shared->broker;
    const struct job *job = broker_find(broker, id);

    *known = (struct job_known){.lives = job != NULL};
    if (job) {
        broker_job_info(broker, job, &known->info);
        known->lives = may_know(conn, queue_name(known->info.queue));
    }
    known->ended = broker_result(broker, id, &known->result) && may_know(conn, known->result.queue);
}

// `state`: how the job has ended, NULL if that is unknown.
static void job_answer(struct http1_conn *conn, uint64_t id, const char *state)
{
    struct job_known known;

    job_known_of(conn, id, &known);
    if (known.ended) {
        wire_hold(conn->wire, broker_results_position(conn->shared->broker));
    }
    if (web_request(conn)->job_query.raw) {
        answer_raw(conn, known.ended ? &known.result : NULL);
    } else if (known.lives || known.ended || state) {
        answer_state(conn, known.lives ? &known.info : NULL, known.ended ? &known.result : NULL,
                     state);
    } else {
        http1_refuse_status(conn, 404, "no such job");
    }
}

static void cancel_job(struct http1_conn *conn, uint64_t id)
{
    struct job_known known;
    enum status status = STATUS_NOT_FOUND;

    job_known_of(conn, id, &known);
    if (known.lives) {
        status = broker_cancel(conn->shared->broker, conn->session, id, false);
    }
    if (status == STATUS_OK) {
        wire_hold(conn->wire, broker_position(conn->shared->broker));
        http1_reply(conn, &(struct http1_reply){.status = 204}, SLICE(""));
    } else if (status == STATUS_HELD) {
        http1_refuse_status(conn, 409, "a worker holds the job");
    } else if (known.lives) {
        http1_caller_refuse(conn, web_target_name(&web_request(conn)->target));
    } else {
        http1_refuse_status(conn, 404, "no such job");
    }
}

// False if the query is invalid: answered.
static bool job_read_query(struct http1_conn *conn)
{
    struct web_request *request = web_request(conn);
    struct slice query = request->target.query;
    struct slice name, value;
    uint64_t seconds;

    while (http1_query_next(&query, &name, &value)) {
        if (!slice_equal(name, SLICE("wait")) || !digits_read(value, &seconds) ||
            seconds > UINT32_MAX) {
            http1_refuse_status(conn, 400, "the query may have one parameter: wait, in seconds");
            return false;
        }
        request->job_query.wait_for = nsec_from_seconds(seconds);
    }
    return true;
}

bool web_job_check(struct http1_conn *conn)
{
    const struct slice suffix = SLICE("/result"); // asks only for the data of the result
    struct web_request *request = web_request(conn);
    struct web_target *target = &request->target;
    bool known;

    if (conn->request->method == HTTP1_GET) {
        if (target->name_len > suffix.len &&
            memcmp(target->name + target->name_len - suffix.len, suffix.ptr, suffix.len) == 0) {
            target->name_len -= suffix.len;
            request->job_query.raw = true;
        }
        if (!job_read_query(conn)) {
            return false;
        }
    }
    known = handle_read(&web_shared(conn)->handles, web_target_name(target), &request->job_id);
    if (!known) {
        http1_refuse_status(conn, 404, "no such job");
    } else if (conn->request->method != HTTP1_GET) {
        cancel_job(conn, request->job_id);
    } else if (request->job_query.wait_for > 0) {
        return true;
    } else {
        job_answer(conn, request->job_id, NULL);
    }
    return false;
}

// A caller who may submit to the queue but not observe it gets the present state at once.
enum http1_next web_job_begin(struct http1_conn *conn)
{
    struct web_request *request = web_request(conn);
    struct broker *broker = conn->shared->broker;
    struct job_known known;

    job_known_of(conn, request->job_id, &known);
    if (!known.lives ||
        broker_follow(conn->session, request->job_id, &request->watch) != STATUS_OK) {
        request->watch = NULL;
        job_answer(conn, request->job_id, NULL);
        return HTTP1_NEXT_REQUEST;
    }
    output_init(&request->parts, conn->wire->out.pool);
    conn->wire->deadline_at = nsec_add(broker_now(broker).mono, request->job_query.wait_for);
    return HTTP1_NEXT_WAIT;
}

// NULL: the job has not ended.
static const char *end_word(enum job_event_kind kind)
{
    switch (kind) {
    case JOB_EVENT_PROGRESS:
    case JOB_EVENT_DATA:
    case JOB_EVENT_WARNING:
    case JOB_EVENT_RETRIED:
        return NULL;
    case JOB_EVENT_COMPLETE:
        return "complete";
    case JOB_EVENT_FAILED:
        return "failed";
    case JOB_EVENT_EXCEPTION:
        return "exception";
    case JOB_EVENT_CANCELLED:
        return "cancelled";
    }
    UNREACHABLE();
}

bool web_job_event(struct http1_conn *conn, const struct job_event *event)
{
    const char *state = end_word(event->kind);

    if (!state) {
        return false;
    }
    web_request(conn)->watch = NULL;
    wire_hold(conn->wire, event->position);
    job_answer(conn, event->job_id, state);
    return true;
}

void web_job_expired(struct http1_conn *conn)
{
    struct web_request *request = web_request(conn);

    broker_unwatch(request->watch);
    request->watch = NULL;
    job_answer(conn, request->job_id, NULL);
}
