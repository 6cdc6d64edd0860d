/* SPDX-License-Identifier: MIT */
#include "proto_http/accept.h"

#include "core/base/macros.h"
#include "http1/caller.h"
#include "http1/http1_options.h"
#include "http1/reply.h"

#include "proto_http/lease_actions.h"
#include "proto_http/once.h"
#include "proto_http/submission.h"
#include "proto_http/web_answer.h"
#include "proto_http/web_job.h"
#include "proto_http/web_request.h"
#include "proto_http/web_work.h"

#include <string.h>
#include <strings.h>

#define ALLOW_FUNCTION "Allow: GET, POST, PUT, OPTIONS\r\n"
#define ALLOW_JOB "Allow: GET, DELETE, OPTIONS\r\n"
#define ALLOW_POST "Allow: POST, OPTIONS\r\n"
#define ALLOW_NOTHING "Allow: HEAD, OPTIONS\r\n"
#define ALLOW_ALL "Allow: GET, POST, PUT, DELETE, HEAD, OPTIONS\r\n"
#define PREFLIGHT                                                                                  \
    "Access-Control-Allow-Methods: GET, POST, PUT, DELETE\r\n"                                     \
    "Access-Control-Allow-Headers: Authorization, Content-Type, Idempotency-Key, Last-Event-ID, "  \
    "X-Gearman-Unique, X-Gearman-Background, X-Gearman-Priority, X-Gearman-Delay, "                \
    "X-Gearman-Epoch, X-Gearman-Ttr, X-Gearman-Timeout\r\n"                                        \
    "Access-Control-Max-Age: 600\r\n"

//
// Functions
//

static bool is_probe(struct slice function)
{
    static const struct slice probes[] = {
        {"favicon.ico", 11},
        {"robots.txt", 10},
        {"metrics", 7},
        {"healthz", 7},
        {"livez", 5},
        {"readyz", 6},
        {"apple-touch-icon.png", 20},
        {"apple-touch-icon-precomposed.png", 32},
    };
    const struct slice well_known = SLICE(".well-known/");

    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        if (slice_equal(function, probes[i])) {
            return true;
        }
    }
    return function.len >= well_known.len &&
           strncasecmp(function.ptr, well_known.ptr, well_known.len) == 0;
}

// Answers an error; always false.
static bool refuse_function(struct http1_conn *conn, unsigned status, struct slice function,
                            const char *why)
{
    http1_refuse(conn, &(struct http1_reply){.status = status, .shown = function}, why);
    return false;
}

bool web_function_check(struct http1_conn *conn)
{
    struct slice name = web_target_name(&web_request(conn)->target);

    if (!session_may_by_name(conn->session, MAY_SUBMIT, name)) {
        http1_caller_refuse(conn, name);
        return false;
    }
    if (!web_function_offered(web_shared(conn), name)) {
        return refuse_function(conn, 403, name, "http.functions does not include this function");
    }
    return !is_probe(name) || *web_shared(conn)->options->functions ||
           broker_queue_find(conn->shared->broker, name) ||
           refuse_function(
               conn, 404, name,
               "no worker has registered this function, and http.functions does not include it");
}

//
// Requests
//

// The header Allow for the target.
static const char *allow_header(const struct web_target *target)
{
    switch (target->place) {
    case WEB_PLACE_FUNCTION:
        return ALLOW_FUNCTION;
    case WEB_PLACE_JOB:
        return ALLOW_JOB;
    case WEB_PLACE_WORK:
    case WEB_PLACE_LEASE:
        return ALLOW_POST;
    case WEB_PLACE_SERVER:
        return ALLOW_ALL;
    case WEB_PLACE_ROOT:
    case WEB_PLACE_NONE:
    case WEB_PLACE_UNKNOWN:
        break;
    }
    return ALLOW_NOTHING;
}

static bool refuse_method(struct http1_conn *conn)
{
    http1_refuse(
        conn,
        &(struct http1_reply){.status = 405, .extra = allow_header(&web_request(conn)->target)},
        "the method is not allowed for this path");
    return false;
}

static bool answer_options(struct http1_conn *conn)
{
    const struct web_request *request = web_request(conn);
    const char *extra =
        request->http1.origin ? ALLOW_ALL PREFLIGHT : allow_header(&request->target);

    if (request->target.place == WEB_PLACE_NONE) {
        return web_refuse_status(conn, 400, "the path is malformed");
    }
    http1_reply(conn, &(struct http1_reply){.status = 204, .extra = extra}, SLICE(""));
    return false;
}

// Answers the health check of a load balancer, for any Host. While the broker drains, new jobs
// should go to another broker.
static bool answer_health(struct http1_conn *conn)
{
    struct broker_info info;

    broker_info(conn->shared->broker, &info);
    if (info.draining) {
        http1_refuse_later(conn, status_text(STATUS_DRAINING));
    } else {
        http1_reply(conn, &(struct http1_reply){.status = 200}, SLICE(""));
    }
    return false;
}

static bool check_function(struct http1_conn *conn, const struct http1_fields *fields,
                           const struct http1_framing *framing)
{
    const struct web_request *request = web_request(conn);
    enum http1_method method = conn->request->method;

    if (method == HTTP1_DELETE) {
        return refuse_method(conn);
    }
    if (!web_function_check(conn)) {
        return false;
    }
    if (method == HTTP1_GET ? http1_has_body(framing) : request->target.has_query) {
        web_refuse_error(conn, 400,
                         method == HTTP1_GET ? "a GET must not have a body"
                                             : "only a GET may have a query");
        return false;
    }
    if (http1_has(fields, WEB_FIELD_LAST_EVENT_ID)) {
        // A browser that lost its stream reconnects: its job exists, and is not submitted again.
        http1_reply(conn, &(struct http1_reply){.status = 204}, SLICE(""));
        return false;
    }
    if (!web_job_fields_read(conn, fields) || !web_once_read(conn, fields)) {
        return false;
    }
    // If the body is the job's key, it is hashed while it arrives.
    conn->request->body_is_key = contract_keys_body(
        conn->shared->broker, web_target_name(&request->target),
        slice_of(request->unique, request->unique_len),
        framing->chunked ? (size_t)conn->request->max_body : (size_t)framing->len);
    return true;
}

static bool check_target(struct http1_conn *conn, const struct http1_fields *fields,
                         const struct http1_framing *framing)
{
    enum http1_method method = conn->request->method;

    if (!http1_caller_check(conn, fields)) {
        return false;
    }
    if (method == HTTP1_HEAD_METHOD) {
        return refuse_method(conn);
    }
    switch (web_request(conn)->target.place) {
    case WEB_PLACE_FUNCTION:
        return check_function(conn, fields, framing);
    case WEB_PLACE_JOB:
        return method == HTTP1_GET || method == HTTP1_DELETE ? web_job_check(conn)
                                                             : refuse_method(conn);
    case WEB_PLACE_WORK:
        return method == HTTP1_POST ? web_work_check(conn, fields, framing) : refuse_method(conn);
    case WEB_PLACE_ROOT:
        return web_refuse_status(conn, 404, "the path must name a function");
    case WEB_PLACE_LEASE: // needs no caller
    case WEB_PLACE_UNKNOWN:
    case WEB_PLACE_SERVER:
        return web_refuse_status(conn, 404, "no such path");
    case WEB_PLACE_NONE:
        break;
    }
    web_refuse_error(conn, 400, "the path is not a valid function name");
    return false;
}

// Checks everything but the framing. True: the request is accepted.
static bool check_request(struct http1_conn *conn, const struct http1_fields *fields,
                          const struct http1_framing *framing)
{
    struct web_request *request = web_request(conn);

    web_target_read(fields->target, &request->target);
    if (!http1_caller_note_origin(conn, fields)) {
        return false;
    }
    if (request->http1.method == HTTP1_OPTIONS) {
        return http1_caller_check_open(conn, fields) && answer_options(conn);
    }
    if (request->http1.method == HTTP1_HEAD_METHOD && request->target.place == WEB_PLACE_ROOT) {
        return answer_health(conn);
    }
    if (request->target.place != WEB_PLACE_LEASE) {
        return check_target(conn, fields, framing);
    }
    // The token of a lease is sufficient to act on its job, except for a page of another site.
    if (!http1_caller_check_page(conn, fields)) {
        return false;
    }
    return request->http1.method == HTTP1_POST ? web_action_check(conn, framing)
                                               : refuse_method(conn);
}

enum http1_next web_accept(struct http1_conn *conn, const struct http1_fields *fields,
                           const struct http1_framing *framing)
{
    return check_request(conn, fields, framing) ? HTTP1_NEXT_BODY : HTTP1_NEXT_REQUEST;
}

void web_accept_no_method(struct http1_conn *conn, struct slice target)
{
    web_target_read(target, &web_request(conn)->target);
    (void)refuse_method(conn);
}
