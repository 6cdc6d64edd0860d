/* SPDX-License-Identifier: MIT */
#include "proto_http/accept.h"

#include "core/base/macros.h"

#include "proto_http/answer.h"
#include "proto_http/caller.h"
#include "proto_http/fields.h"
#include "proto_http/job_fields.h"
#include "proto_http/jobs.h"
#include "proto_http/request.h"

#define ALLOW_FUNCTION "Allow: GET, POST, PUT, OPTIONS\r\n"
#define ALLOW_JOB "Allow: GET, DELETE, OPTIONS\r\n"
#define ALLOW_NOTHING "Allow: HEAD, OPTIONS\r\n"
#define ALLOW_ALL "Allow: GET, POST, PUT, DELETE, HEAD, OPTIONS\r\n"
#define PREFLIGHT                                                                                  \
    "Access-Control-Allow-Methods: GET, POST, PUT, DELETE\r\n"                                     \
    "Access-Control-Allow-Headers: Authorization, Content-Type, Last-Event-ID, "                   \
    "X-Gearman-Unique, X-Gearman-Background, X-Gearman-Priority, X-Gearman-Delay, "                \
    "X-Gearman-Epoch, X-Gearman-Ttr, X-Gearman-Timeout\r\n"                                        \
    "Access-Control-Max-Age: 600\r\n"

// Answers, and is done with the request; always false.
static bool refuse(struct web_conn *conn, unsigned status, const char *why)
{
    web_refuse_status(conn, status, why);
    return false;
}

// The header with the methods that go with the target.
static const char *allow(const struct web_target *target)
{
    switch (target->place) {
    case WEB_PLACE_FUNCTION:
        return ALLOW_FUNCTION;
    case WEB_PLACE_JOB:
        return ALLOW_JOB;
    case WEB_PLACE_SERVER:
        return ALLOW_ALL;
    case WEB_PLACE_ROOT:
    case WEB_PLACE_NONE:
    case WEB_PLACE_UNKNOWN:
        break;
    }
    return ALLOW_NOTHING;
}

static bool refuse_method(struct web_conn *conn)
{
    web_refuse(conn, &(struct web_answer){.status = 405, .extra = allow(&conn->request->target)},
               "the method does not go with the path");
    return false;
}

static bool answer_options(struct web_conn *conn)
{
    const struct web_request *request = conn->request;
    const char *extra = request->origin ? ALLOW_ALL PREFLIGHT : allow(&request->target);

    web_answer(conn, &(struct web_answer){.status = 204, .extra = extra}, SLICE(""));
    return false;
}

// A load balancer asks this: while the broker drains, new jobs should go elsewhere.
static bool answer_health(struct web_conn *conn)
{
    struct broker_info info;

    broker_info(conn->shared->broker, &info);
    if (info.draining) {
        web_refuse(conn, &(struct web_answer){.status = 503, .extra = WEB_RETRY},
                   status_text(STATUS_DRAINING));
    } else {
        web_answer(conn, &(struct web_answer){.status = 200}, SLICE(""));
    }
    return false;
}

static bool check_function(struct web_conn *conn, const struct http1_fields *fields,
                           const struct http1_framing *framing, const char *globs)
{
    enum http1_method method = conn->request->method;

    if (method == HTTP1_DELETE) {
        return refuse_method(conn);
    }
    if (!web_caller_check_function(conn, globs)) {
        return false;
    }
    if (method == HTTP1_GET ? http1_has_body(framing) : conn->request->target.has_query) {
        web_refuse_error(conn, 400,
                         method == HTTP1_GET ? "a GET has no body" : "only a GET has a query");
        return false;
    }
    if (http1_has(fields, WEB_FIELD_LAST_EVENT_ID)) {
        // A browser that lost its stream asks again: the job was submitted once, and is not again.
        web_answer(conn, &(struct web_answer){.status = 204}, SLICE(""));
        return false;
    }
    return web_job_fields_read(conn, fields);
}

static bool check_job(struct web_conn *conn, const char *globs)
{
    enum http1_method method = conn->request->method;

    if (method != HTTP1_GET && method != HTTP1_DELETE) {
        return refuse_method(conn);
    }
    web_job_answer(conn, globs);
    return false;
}

static bool check_target(struct web_conn *conn, const struct http1_fields *fields,
                         const struct http1_framing *framing)
{
    const char *globs;

    if (!web_caller_check(conn, fields, &globs)) {
        return false;
    }
    if (conn->request->method == HTTP1_HEAD_METHOD) {
        return refuse_method(conn);
    }
    switch (conn->request->target.place) {
    case WEB_PLACE_FUNCTION:
        return check_function(conn, fields, framing, globs);
    case WEB_PLACE_JOB:
        return check_job(conn, globs);
    case WEB_PLACE_ROOT:
        return refuse(conn, 404, "the path names the function");
    case WEB_PLACE_UNKNOWN:
    case WEB_PLACE_SERVER:
        return refuse(conn, 404, "there is no such thing");
    case WEB_PLACE_NONE:
        break;
    }
    web_refuse_error(conn, 400, "the path is no name of a function");
    return false;
}

// Everything but the framing. True: the request's job is to be submitted.
static bool check(struct web_conn *conn, const struct http1_fields *fields,
                  const struct http1_framing *framing)
{
    struct web_request *request = conn->request;

    web_target_read(fields->target, &request->target);
    if (!web_caller_check_host(conn, fields) || !web_caller_note_origin(conn, fields)) {
        return false;
    }
    if (request->method == HTTP1_OPTIONS) {
        return request->target.place == WEB_PLACE_NONE ? refuse(conn, 400, "the path is no good")
                                                       : answer_options(conn);
    }
    if (request->method == HTTP1_HEAD_METHOD && request->target.place == WEB_PLACE_ROOT) {
        return answer_health(conn);
    }
    return check_target(conn, fields, framing);
}

static bool read_framing(struct web_conn *conn, const struct http1_fields *fields,
                         struct http1_framing *framing)
{
    struct http1_refusal refusal;

    if (!http1_framing_read(fields, framing, &refusal)) {
        return refuse(conn, refusal.status, refusal.why);
    }
    return framing->len <= conn->shared->options->max_body ||
           refuse(conn, 413, "the body is larger than http.max_body");
}

// Reads the head. True: the request's job is to be submitted when its body is there.
static bool accept(struct web_conn *conn, const struct http1_head *head,
                   struct http1_fields *fields, struct http1_framing *framing)
{
    struct web_request *request = conn->request;
    bool good = http1_fields_read(head, &conn->shared->names, fields);

    request->method = fields->method;
    request->version_1_0 = fields->version_1_0;
    if (!good) {
        return refuse(conn, 400, "the request cannot be read");
    }
    // Until its framing is known to be good, what follows the head is not.
    if (fields->method == HTTP1_OTHER_METHOD) {
        web_target_read(fields->target, &request->target);
        return refuse_method(conn);
    }
    if (!read_framing(conn, fields, framing)) {
        return false;
    }
    // A body that is not wanted is not waited for.
    conn->unread = http1_has_body(framing);
    request->keep_alive = fields->keep_alive && !conn->unread;
    if (!check(conn, fields, framing)) {
        return false;
    }
    request->keep_alive = fields->keep_alive;
    return true;
}

enum web_next web_accept(struct web_conn *conn, const struct http1_head *head,
                         struct http1_framing *framing)
{
    struct http1_fields fields;

    conn->unread = true;
    conn->request = web_request_new();
    if (!conn->request) {
        web_refuse_memory(conn);
        return WEB_NEXT_REQUEST;
    }
    return accept(conn, head, &fields, framing) ? WEB_NEXT_BODY : WEB_NEXT_REQUEST;
}
