/* SPDX-License-Identifier: MIT */
#include "admin/request/admin_request.h"

#include "core/base/macros.h"
#include "core/base/memory.h"
#include "http1/caller.h"
#include "http1/http1_answer.h"
#include "http1/reply.h"
#include "http1/request_target.h"

#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"
#include "admin/request/route.h"

#include <stdio.h>
#include <string.h>

const char *const admin_fields[ADMIN_FIELDS] = {"X-Tandem-Request", "Accept-Encoding",
                                                "If-None-Match"};

//
// The session
//

static void session_leased(void *owner, const struct job *job)
{
    (void)owner;
    (void)job;
    UNREACHABLE();
}

static void session_wait_over(void *owner, enum wait_end why)
{
    (void)owner;
    (void)why;
    UNREACHABLE();
}

static void session_nudged(void *owner)
{
    (void)owner;
    UNREACHABLE();
}

static void session_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    (void)owner;
    (void)watch;
    (void)event;
    UNREACHABLE();
}

const struct session_ops admin_session_ops = {
    .leased = session_leased,
    .wait_over = session_wait_over,
    .nudged = session_nudged,
    .job_event = session_job_event,
};

//
// Checks before the body. Each returns false if it has refused the request.
//

static bool admin_refused(struct http1_conn *conn, unsigned status, const char *why)
{
    http1_refuse_status(conn, status, why);
    return false;
}

static bool refuse_admin_method(struct http1_conn *conn, unsigned methods)
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

bool admin_caller_is_local(const struct http1_conn *conn)
{
    return wire_is_local(conn->wire) && !admin_request(conn)->proxied;
}

// Without access rules, clients on this machine may do everything, and others nothing. A proxy on
// this machine is not trusted, because it speaks for anyone who reaches it.
static bool check_admin_caller(struct http1_conn *conn, const struct http1_fields *fields,
                               unsigned right)
{
    if (!http1_caller_check(conn, fields)) {
        return false;
    }
    if (!http1_caller_has_rules(conn)) {
        return admin_caller_is_local(conn) ||
               admin_refused(conn, 403,
                             admin_request(conn)->proxied
                                 ? "without access rules (server.access_file), requests through a "
                                   "proxy are refused"
                                 : "without access rules (server.access_file), only callers on "
                                   "this machine are allowed");
    }
    if (right && !session_may_somewhere(conn->session, (enum right)right)) {
        http1_caller_refuse(conn, fields->target);
        return false;
    }
    return true;
}

static bool check_route_caller(struct http1_conn *conn, const struct http1_fields *fields,
                               const struct admin_route *route)
{
    if (route && route->probe) {
        return true;
    }
    if (route && route->right == 0) {
        return http1_caller_check_open(conn, fields);
    }
    return check_admin_caller(conn, fields, route ? route->right : 0);
}

// While the journal is being read, an empty broker stands in for the real one. Its connections end
// with it.
static bool is_journal_opening(const struct http1_conn *conn)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct restore_progress opening;

    return introspect && introspect->opening(introspect->host, &opening);
}

static bool find_route(struct http1_conn *conn, const struct http1_fields *fields)
{
    struct admin_request *request = admin_request(conn);
    enum http1_method method = request->http1.method;
    struct admin_route_match match;

    admin_route_find(admin_shared(conn)->routes, request->path,
                     method == HTTP1_HEAD_METHOD ? HTTP1_GET : method, &match);
    request->route = match.route;
    memcpy(request->args, match.args, sizeof request->args);
    if (!check_route_caller(conn, fields, match.route)) {
        return false;
    }
    if (is_journal_opening(conn) && !(match.route && match.route->early)) {
        http1_refuse_later(conn, "the journal is being read: /readyz shows the progress");
        return false;
    }
    if (!match.path_known) {
        return admin_refused(conn, 404, "not found");
    }
    return match.route || refuse_admin_method(conn, match.methods);
}

static bool check_change(struct http1_conn *conn, const struct http1_fields *fields)
{
    enum http1_method method = conn->request->method;
    bool change = method == HTTP1_POST || method == HTTP1_PUT || method == HTTP1_DELETE;

    return !change || fields->values[ADMIN_FIELD_REQUEST].len > 0 ||
           admin_refused(conn, 403, "a change requires the header X-Tandem-Request");
}

// The bytes of the head are gone when the body arrives or a reply is made in slices.
static bool copy_target(struct admin_request *request, struct slice target)
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

static bool accept_admin_request(struct http1_conn *conn, const struct http1_fields *fields,
                                 const struct http1_framing *framing)
{
    struct admin_request *request = admin_request(conn);
    struct http1_target target;

    request->proxied = fields->proxied;
    if (is_journal_opening(conn)) {
        http1_request_last(&request->http1);
    }
    if (!copy_target(request, fields->target)) {
        http1_refuse_memory(conn);
        return false;
    }
    http1_target_read(slice_of(request->target, request->target_len), &target);
    if (target.kind != HTTP1_TARGET_PATH) {
        return admin_refused(conn, 400, "the path is not valid");
    }
    request->path = target.path;
    request->query = target.query;
    request->accept = fields->values[HTTP1_FIELD_ACCEPT];
    request->accept_encoding = fields->values[ADMIN_FIELD_ACCEPT_ENCODING];
    request->none_match = fields->values[ADMIN_FIELD_NONE_MATCH];
    if (!find_route(conn, fields) || !check_change(conn, fields)) {
        return false;
    }
    return request->route->takes_body || !http1_has_body(framing) ||
           admin_refused(conn, 400, "this request takes no body");
}

//
// The functions for HTTP/1.1
//

static enum http1_next admin_user_accept(struct http1_conn *conn, const struct http1_fields *fields,
                                         const struct http1_framing *framing)
{
    return accept_admin_request(conn, fields, framing) ? HTTP1_NEXT_BODY : HTTP1_NEXT_REQUEST;
}

static enum http1_next admin_user_complete(struct http1_conn *conn, struct slice body,
                                           struct blob *blob)
{
    return admin_request(conn)->route->answer(conn, body, blob);
}

static void admin_user_other_method(struct http1_conn *conn, struct slice target)
{
    (void)target;
    (void)refuse_admin_method(conn, 0);
}

// Makes one slice of the reply and ends the turn, because other connections wait.
static enum http1_progress admin_user_step(struct http1_conn *conn, struct feed_turn *turn)
{
    struct admin_request *request = admin_request(conn);
    enum http1_progress progress;

    if (!http1_slice_begins(conn, turn)) {
        return HTTP1_AGAIN;
    }
    progress = request->maker->make(conn, request->making);
    turn->budget = 0;
    if (progress == HTTP1_ENDED) {
        http1_pieces_end(&conn->wire->out, request->chunked);
    }
    return progress;
}

// The deadline that a maker has set is over: wakes the maker.
static bool admin_user_expired(struct http1_conn *conn)
{
    conn->wire->deadline_at = NSEC_NEVER;
    wire_wake(conn->wire);
    return false;
}

static void admin_user_stopping(struct http1_conn *conn)
{
    const struct admin_request *request = admin_request(conn);

    if (request->maker->stopping) {
        request->maker->stopping(conn, request->making);
    }
}

static void admin_user_forget(struct http1_request *base)
{
    struct admin_request *request = (struct admin_request *)base;

    if (request->maker && request->maker->forget) {
        request->maker->forget(request->making);
    }
    memory_free(request->target, request->target_len + 1);
}

static size_t admin_user_holds(const struct http1_request *base)
{
    const struct admin_request *request = (const struct admin_request *)base;
    size_t holds = request->target_len;

    if (request->maker && request->maker->holds) {
        holds += request->maker->holds(request->making);
    }
    return holds;
}

const struct http1_user admin_user = {
    .texts = {HTTP1_TEXTS("admin"),
              .origin = "Origin is another site: its pages are not allowed to use this API",
              .site = "the request comes from a page of another site, which is not allowed to use "
                      "this API",
              .referer = "Referer is a page of another site, which is not allowed to use this API",
              .bad_token = "the token is not in server.access_file",
              .forbidden = "no rule of server.access_file allows that to the caller"},
    .has_pages = true,
    .rights = MAY_EVERYTHING,
    .session = &admin_session_ops,
    .request_size = sizeof(struct admin_request),
    .request_cleared = sizeof(struct admin_request),
    .other_method = admin_user_other_method,
    .accept = admin_user_accept,
    .complete = admin_user_complete,
    .step = admin_user_step,
    .expired = admin_user_expired,
    .stopping = admin_user_stopping,
    .forget = admin_user_forget,
    .holds = admin_user_holds,
};
