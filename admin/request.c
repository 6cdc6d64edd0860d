/* SPDX-License-Identifier: MIT */
#include "admin/request.h"

#include "core/base/memory.h"
#include "http1/caller.h"
#include "http1/events.h"
#include "http1/reply.h"
#include "http1/target.h"

#include "admin/context.h"
#include "admin/reply.h"
#include "admin/route.h"
#include "admin/session.h"

#include <stdio.h>
#include <string.h>

const char *const admin_fields[ADMIN_FIELDS] = {"X-Tandem-Request", "Accept-Encoding",
                                                "If-None-Match"};

// Answers, and is done with the request; always false.
static bool refuse(struct http1_conn *conn, unsigned status, const char *why)
{
    http1_refuse_status(conn, status, why);
    return false;
}

static bool refuse_method(struct http1_conn *conn, unsigned methods)
{
    bool get = (methods & (1u << HTTP1_GET)) != 0;
    char allow[sizeof "Allow: OPTIONS, GET, HEAD, POST, PUT, DELETE\r\n"];

    (void)snprintf(allow, sizeof allow, "Allow: OPTIONS%s%s%s%s\r\n", get ? ", GET, HEAD" : "",
                   methods & (1u << HTTP1_POST) ? ", POST" : "",
                   methods & (1u << HTTP1_PUT) ? ", PUT" : "",
                   methods & (1u << HTTP1_DELETE) ? ", DELETE" : "");
    if (conn->request->method == HTTP1_OPTIONS) {
        http1_reply(conn, &(struct http1_reply){.status = 204, .extra = allow}, SLICE(""));
    } else {
        http1_refuse(conn, &(struct http1_reply){.status = 405, .extra = allow},
                     "the path does not allow this method");
    }
    return false;
}

//
// Who calls
//

static bool is_change(const struct http1_conn *conn)
{
    enum http1_method method = conn->request->method;

    return method == HTTP1_POST || method == HTTP1_PUT || method == HTTP1_DELETE;
}

bool admin_caller_is_here(const struct http1_conn *conn)
{
    return wire_is_local(conn->wire) && !admin_request(conn)->proxied;
}

// Without rules, callers on this machine may see and do everything, and all others nothing. A proxy
// on it is no such caller: it speaks for anyone who reaches it.
static bool check_caller(struct http1_conn *conn, const struct http1_fields *fields, unsigned right)
{
    if (!http1_caller_check(conn, fields)) {
        return false;
    }
    if (!http1_caller_has_rules(conn)) {
        return admin_caller_is_here(conn) ||
               refuse(conn, 403,
                      admin_request(conn)->proxied ? "without access rules (server.access_file), "
                                                     "requests through a proxy are refused"
                                                   : "without access rules (server.access_file), "
                                                     "only callers on this machine are allowed");
    }
    if (right && !session_may_somewhere(conn->session, (enum right)right)) {
        http1_caller_refuse(conn, fields->target);
        return false;
    }
    return true;
}

static bool check_change(struct http1_conn *conn, const struct http1_fields *fields)
{
    return !is_change(conn) || fields->values[ADMIN_FIELD_REQUEST].len > 0 ||
           refuse(conn, 403, "a change requires the header X-Tandem-Request");
}

//
// Accepting
//

// The head's bytes go when its body comes, or when the answer is made in slices.
static bool keep_target(struct admin_request *request, struct slice target)
{
    request->target = memory_alloc(target.len + 1);
    if (!request->target) {
        return false;
    }
    memcpy(request->target, target.ptr, target.len);
    request->target[target.len] = '\0';
    request->target_len = target.len;
    return true;
}

static bool check_body(struct http1_conn *conn, const struct http1_framing *framing)
{
    return admin_request(conn)->route->takes_body || !http1_has_body(framing) ||
           refuse(conn, 400, "this request takes no body");
}

// While the journal is being read the broker is an empty one, with which its connections end.
static bool is_early(const struct http1_conn *conn)
{
    const struct sight *sight = admin_shared(conn)->sight;
    struct sight_opening opening;

    return sight && sight->opening(sight->host, &opening);
}

static bool refuse_early(struct http1_conn *conn)
{
    http1_refuse(conn, &(struct http1_reply){.status = 503, .extra = HTTP1_RETRY},
                 "the journal is being read: /readyz shows the progress");
    return false;
}

static bool check_caller_for(struct http1_conn *conn, const struct http1_fields *fields,
                             const struct admin_route *route)
{
    if (route && route->probe) {
        return true;
    }
    return route && route->right == 0 ? http1_caller_check_open(conn, fields)
                                      : check_caller(conn, fields, route ? route->right : 0);
}

static bool find_route(struct http1_conn *conn, const struct http1_fields *fields)
{
    struct admin_request *request = admin_request(conn);
    enum http1_method method = request->http1.method;
    struct admin_found found;

    admin_route_find(request->path, method == HTTP1_HEAD_METHOD ? HTTP1_GET : method, &found);
    request->route = found.route;
    memcpy(request->args, found.args, sizeof request->args);
    if (!check_caller_for(conn, fields, found.route)) {
        return false;
    }
    if (is_early(conn) && !(found.route && found.route->early)) {
        return refuse_early(conn);
    }
    if (!found.path_known) {
        return refuse(conn, 404, "not found");
    }
    return found.route || refuse_method(conn, found.methods);
}

static bool accept(struct http1_conn *conn, const struct http1_fields *fields,
                   const struct http1_framing *framing)
{
    struct admin_request *request = admin_request(conn);
    struct http1_target target;

    request->proxied = fields->proxied;
    if (is_early(conn)) {
        http1_request_last(&request->http1);
    }
    if (!keep_target(request, fields->target)) {
        http1_refuse_memory(conn);
        return false;
    }
    http1_target_read(slice_of(request->target, request->target_len), &target);
    if (target.kind != HTTP1_TARGET_PATH) {
        return refuse(conn, 400, "the path is not valid");
    }
    request->path = target.path;
    request->query = target.query;
    request->accept = fields->values[HTTP1_FIELD_ACCEPT];
    request->accept_encoding = fields->values[ADMIN_FIELD_ACCEPT_ENCODING];
    request->none_match = fields->values[ADMIN_FIELD_NONE_MATCH];
    return find_route(conn, fields) && check_change(conn, fields) && check_body(conn, framing);
}

static enum http1_next user_accept(struct http1_conn *conn, const struct http1_fields *fields,
                                   const struct http1_framing *framing)
{
    return accept(conn, fields, framing) ? HTTP1_NEXT_BODY : HTTP1_NEXT_REQUEST;
}

static enum http1_next user_complete(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    return admin_request(conn)->route->answer(conn, body, blob);
}

static void user_other_method(struct http1_conn *conn, struct slice target)
{
    (void)target;
    (void)refuse_method(conn, 0);
}

//
// Answers that are made in slices
//

static enum http1_progress user_step(struct http1_conn *conn, struct feed_turn *turn)
{
    struct admin_request *request = admin_request(conn);
    enum http1_progress progress;

    if (!http1_slice_begins(conn, turn)) {
        return HTTP1_AGAIN;
    }
    progress = request->maker->make(conn, request->making);
    // A slice is much for one turn, and others wait.
    turn->budget = 0;
    if (progress == HTTP1_ENDED) {
        http1_pieces_end(&conn->wire->out, request->chunked);
    }
    return progress;
}

// The moment that a maker waits for has come: it is called.
static bool user_expired(struct http1_conn *conn)
{
    conn->wire->deadline_at = NSEC_NEVER;
    wire_wake(conn->wire);
    return false;
}

static void user_stopping(struct http1_conn *conn)
{
    const struct admin_request *request = admin_request(conn);

    if (request->maker->stopping) {
        request->maker->stopping(conn, request->making);
    }
}

static void user_forget(struct http1_request *base)
{
    struct admin_request *request = (struct admin_request *)base;

    if (request->maker && request->maker->forget) {
        request->maker->forget(request->making);
    }
    memory_free(request->target, request->target_len + 1);
}

static size_t user_holds(const struct http1_request *base)
{
    const struct admin_request *request = (const struct admin_request *)base;
    size_t holds = request->target_len;

    if (request->maker && request->maker->holds) {
        holds += request->maker->holds(request->making);
    }
    return holds;
}

const struct http1_user admin_user = {
    .texts =
        {HTTP1_TEXTS("admin"),
         .origin = "Origin is another site: its pages are not allowed to use this API",
         .site =
             "the request comes from a page of another site, which is not allowed to use this API",
         .referer = "Referer is a page of another site, which is not allowed to use this API",
         .bad_token = "the token is not in server.access_file",
         .forbidden = "no rule of server.access_file allows that to the caller"},
    .has_pages = true,
    .rights = MAY_EVERYTHING,
    .session = &admin_session_ops,
    .request_size = sizeof(struct admin_request),
    .request_cleared = sizeof(struct admin_request),
    .other_method = user_other_method,
    .accept = user_accept,
    .complete = user_complete,
    .step = user_step,
    .expired = user_expired,
    .stopping = user_stopping,
    .forget = user_forget,
    .holds = user_holds,
};
