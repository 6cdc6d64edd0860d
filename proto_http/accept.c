/* SPDX-License-Identifier: MIT */
#include "proto_http/accept.h"

#include "core/base/digits.h"
#include "core/base/macros.h"
#include "proto_common/http1/fields.h"

#include "proto_http/answer.h"
#include "proto_http/guard.h"
#include "proto_http/jobs.h"
#include "proto_http/request.h"
#include "proto_http/submit.h"

// An origin that is longer is nobody's.
#define ORIGIN_MAX 512
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

#define CHALLENGE "WWW-Authenticate: Bearer realm=\"tandem\""

// How the body of a request comes.
struct framing {
    bool chunked;
    uint64_t len; // where it is not
};

// Answers, and is done with the request; always false.
static bool refuse(struct web_conn *conn, unsigned status, const char *why)
{
    web_refuse_status(conn, status, why);
    return false;
}

static bool refuse_memory(struct web_conn *conn)
{
    web_refuse_later(conn, 503, "out of memory");
    return false;
}

// What may be done with the target.
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

//
// Framing: what is wrong here is wrong with all that follows
//

static bool read_length(struct web_conn *conn, const struct http1_fields *fields,
                        struct framing *framing)
{
    struct slice length = fields->values[WEB_FIELD_CONTENT_LENGTH];

    if (http1_has(fields, WEB_FIELD_CONTENT_LENGTH) && !digits_read(length, &framing->len)) {
        return refuse(conn, 400, "Content-Length is no number");
    }
    if (framing->len > conn->shared->options->max_body) {
        return refuse(conn, 413, "the body is larger than http.max_body");
    }
    return true;
}

static bool read_coding(struct web_conn *conn, const struct http1_fields *fields,
                        struct framing *framing)
{
    if (!http1_has(fields, WEB_FIELD_TRANSFER_ENCODING)) {
        return true;
    }
    if (fields->version_1_0) {
        return refuse(conn, 400, "HTTP/1.0 knows no Transfer-Encoding");
    }
    if (!http1_same_word(fields->values[WEB_FIELD_TRANSFER_ENCODING], SLICE("chunked"))) {
        return refuse(conn, 501, "Transfer-Encoding can only be chunked");
    }
    framing->chunked = true;
    return true;
}

static bool read_framing(struct web_conn *conn, const struct http1_fields *fields,
                         struct framing *framing)
{
    bool measured = http1_has(fields, WEB_FIELD_CONTENT_LENGTH);

    *framing = (struct framing){.chunked = false};
    if (http1_repeats(fields, WEB_FIELD_HOST) ||
        (!http1_has(fields, WEB_FIELD_HOST) && !fields->version_1_0)) {
        return refuse(conn, 400, "there must be one Host");
    }
    if (http1_repeats(fields, WEB_FIELD_CONTENT_LENGTH) ||
        http1_repeats(fields, WEB_FIELD_TRANSFER_ENCODING) ||
        (measured && http1_has(fields, WEB_FIELD_TRANSFER_ENCODING))) {
        return refuse(conn, 400, "there can be one Content-Length or one Transfer-Encoding");
    }
    if (http1_has(fields, WEB_FIELD_UPGRADE)) {
        return refuse(conn, 400, "there is nothing to upgrade to");
    }
    if (http1_has(fields, WEB_FIELD_EXPECT) &&
        !http1_same_word(fields->values[WEB_FIELD_EXPECT], SLICE("100-continue"))) {
        return refuse(conn, 417, "Expect can only be 100-continue");
    }
    return read_coding(conn, fields, framing) && read_length(conn, fields, framing);
}

//
// Who asks, and for what
//

// It goes into a header of the answer.
static bool is_origin(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~') {
            return false;
        }
    }
    return text.len <= ORIGIN_MAX;
}

static bool note_origin(struct web_conn *conn, const struct http1_fields *fields)
{
    struct slice origin = fields->values[WEB_FIELD_ORIGIN];
    bool may_see = http1_has(fields, WEB_FIELD_ORIGIN) && is_origin(origin) &&
                   web_origin_allowed(conn->shared, origin);

    return !may_see || web_request_set_origin(conn->request, origin) || refuse_memory(conn);
}

// Refuses for what that part of the request says; always false.
static bool refuse_value(struct web_conn *conn, unsigned status, struct slice value,
                         const char *why)
{
    web_refuse(conn, &(struct web_answer){.status = status, .shown = value}, why);
    return false;
}

static bool check_host(struct web_conn *conn, const struct http1_fields *fields)
{
    struct slice host = fields->values[WEB_FIELD_HOST];

    return !http1_has(fields, WEB_FIELD_HOST) || web_host_allowed(conn->shared, host) ||
           refuse_value(conn, 403, host, "Host is no address, not localhost and not in http.hosts");
}

static bool answer_options(struct web_conn *conn)
{
    const struct web_request *request = conn->request;
    const char *extra = request->origin ? ALLOW_ALL PREFLIGHT : allow(&request->target);

    web_answer(conn, &(struct web_answer){.status = 204, .extra = extra}, SLICE(""));
    return false;
}

// Whoever balances load is told to send new jobs elsewhere.
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

static bool refuse_token(struct web_conn *conn, const char *extra, const char *why)
{
    web_refuse(conn, &(struct web_answer){.status = 401, .extra = extra}, why);
    return false;
}

static bool check_caller(struct web_conn *conn, const struct http1_fields *fields,
                         const char **globs)
{
    switch (web_guard(conn->shared, fields, globs)) {
    case WEB_PASS:
        return true;
    case WEB_PASS_NO_TOKEN:
        return refuse_token(conn, CHALLENGE "\r\n", "a token is needed");
    case WEB_PASS_NO_BEARER:
        return refuse_token(conn, CHALLENGE "\r\n", "Authorization has no Bearer token");
    case WEB_PASS_UNKNOWN_TOKEN:
        return refuse_token(conn, CHALLENGE ", error=\"invalid_token\"\r\n",
                            "the token is not one of those in http.tokens");
    case WEB_PASS_ORIGIN:
        return refuse_value(conn, 403, fields->values[WEB_FIELD_ORIGIN],
                            "Origin is not in http.cors_origins");
    case WEB_PASS_SITE:
        return refuse_value(conn, 403, fields->values[WEB_FIELD_SEC_FETCH_SITE],
                            "a page of another site calls without an Origin, which "
                            "http.cors_origins would have to name");
    case WEB_PASS_REFERER:
        return refuse_value(conn, 403, fields->values[WEB_FIELD_REFERER],
                            "Referer is a page of another site, and not in http.cors_origins");
    }
    UNREACHABLE();
}

// Whether the function may be called, by this caller and at all.
static bool check_name(struct web_conn *conn, const char *globs)
{
    const struct web_target *target = &conn->request->target;
    struct slice name = slice_of(target->name, target->name_len);

    if (!web_function_granted(globs, name)) {
        return refuse_value(conn, 403, name, "the token is not for this function");
    }
    if (!web_function_offered(conn->shared, name)) {
        return refuse_value(conn, 403, name, "http.functions does not have this function");
    }
    return !web_function_is_probe(name) || *conn->shared->options->functions ||
           broker_queue_find(conn->shared->broker, name) ||
           refuse_value(conn, 404, name,
                        "no worker has announced this function, and http.functions does not "
                        "have it");
}

static bool check_function(struct web_conn *conn, const struct http1_fields *fields,
                           const struct framing *framing, const char *globs)
{
    enum http1_method method = conn->request->method;
    bool has_body = framing->chunked || framing->len > 0;

    if (method == HTTP1_DELETE) {
        return refuse_method(conn);
    }
    if (!check_name(conn, globs)) {
        return false;
    }
    if (method == HTTP1_GET ? has_body : conn->request->target.has_query) {
        web_refuse_error(conn, 400,
                         method == HTTP1_GET ? "a GET has no body" : "only a GET has a query");
        return false;
    }
    if (http1_has(fields, WEB_FIELD_LAST_EVENT_ID)) {
        // A browser that lost its stream asks again: the job was submitted once, and is not again.
        web_answer(conn, &(struct web_answer){.status = 204}, SLICE(""));
        return false;
    }
    return web_submit_read(conn, fields);
}

static bool check_job(struct web_conn *conn, const char *globs)
{
    enum http1_method method = conn->request->method;

    if (method != HTTP1_GET && method != HTTP1_DELETE) {
        return refuse_method(conn);
    }
    web_job(conn, globs);
    return false;
}

static bool check_target(struct web_conn *conn, const struct http1_fields *fields,
                         const struct framing *framing)
{
    const char *globs;

    if (!check_caller(conn, fields, &globs)) {
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
                  const struct framing *framing)
{
    struct web_request *request = conn->request;

    web_target_read(fields->target, &request->target);
    if (!check_host(conn, fields) || !note_origin(conn, fields)) {
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

//
// What comes next
//

static void submit_query(struct web_conn *conn)
{
    struct slice query = conn->request->target.query;
    struct blob *workload = blob_new(query.len);
    bool good = workload && web_decode(query, workload->bytes, &workload->len);

    if (good) {
        web_submit(conn, blob_slice(workload), NULL);
    } else if (workload) {
        web_refuse_error(conn, 400, "the query has an escape that is not complete");
        web_conn_next(conn);
    } else {
        (void)refuse_memory(conn);
        web_conn_next(conn);
    }
    blob_unref(workload);
}

static void begin_body(struct web_conn *conn, const struct http1_fields *fields,
                       const struct framing *framing)
{
    struct web_request *request = conn->request;
    size_t most = (size_t)conn->shared->options->max_body;

    if (!framing->chunked && framing->len == 0) {
        if (request->method == HTTP1_GET) {
            submit_query(conn);
        } else {
            web_submit(conn, SLICE(""), NULL);
        }
        return;
    }
    blob_builder_init(&request->body, framing->chunked ? most : (size_t)framing->len);
    conn->state = framing->chunked ? WEB_CHUNKS : WEB_BODY;
    if (http1_has(fields, WEB_FIELD_EXPECT) && !request->version_1_0) {
        output_write(&conn->wire->out, SLICE("HTTP/1.1 100 Continue\r\n\r\n"));
    }
}

// Reads the head. True: the request's job is to be submitted when its body is there.
static bool accept(struct web_conn *conn, const struct http1_head *head,
                   struct http1_fields *fields, struct framing *framing)
{
    struct web_request *request = conn->request;
    bool good = http1_fields_read(head, fields);

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
    conn->unread = framing->chunked || framing->len > 0;
    request->keep_alive = fields->keep_alive && !conn->unread;
    if (!check(conn, fields, framing)) {
        return false;
    }
    request->keep_alive = fields->keep_alive;
    return true;
}

void web_accept(struct web_conn *conn, const struct http1_head *head)
{
    struct http1_fields fields;
    struct framing framing;

    conn->unread = true;
    conn->request = web_request_new();
    if (!conn->request) {
        (void)refuse_memory(conn);
        web_conn_next(conn);
    } else if (accept(conn, head, &fields, &framing)) {
        begin_body(conn, &fields, &framing);
    } else {
        web_conn_next(conn);
    }
}
