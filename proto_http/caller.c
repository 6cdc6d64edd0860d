/* SPDX-License-Identifier: MIT */
#include "proto_http/caller.h"

#include "core/base/macros.h"

#include "proto_http/answer.h"
#include "proto_http/fields.h"
#include "proto_http/guard.h"
#include "proto_http/request.h"

// No site has a longer origin.
#define ORIGIN_MAX 512
#define CHALLENGE "WWW-Authenticate: Bearer realm=\"tandem\""

// Refuses for what that part of the request says; always false.
static bool refuse_value(struct web_conn *conn, unsigned status, struct slice value,
                         const char *why)
{
    web_refuse(conn, &(struct web_answer){.status = status, .shown = value}, why);
    return false;
}

bool web_caller_check_host(struct web_conn *conn, const struct http1_fields *fields)
{
    struct slice host = fields->values[HTTP1_FIELD_HOST];

    return !http1_has(fields, HTTP1_FIELD_HOST) || web_host_allowed(conn->shared, host) ||
           refuse_value(conn, 403, host, "Host is no address, not localhost and not in http.hosts");
}

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

bool web_caller_note_origin(struct web_conn *conn, const struct http1_fields *fields)
{
    struct slice origin = fields->values[WEB_FIELD_ORIGIN];
    bool may_see = http1_has(fields, WEB_FIELD_ORIGIN) && is_origin(origin) &&
                   web_origin_allowed(conn->shared, origin);

    if (may_see && !web_request_set_origin(conn->request, origin)) {
        web_refuse_memory(conn);
        return false;
    }
    return true;
}

static bool refuse_token(struct web_conn *conn, const char *extra, const char *why)
{
    web_refuse(conn, &(struct web_answer){.status = 401, .extra = extra}, why);
    return false;
}

bool web_caller_check(struct web_conn *conn, const struct http1_fields *fields, const char **globs)
{
    switch (web_guard_check(conn->shared, fields, globs)) {
    case WEB_ACCESS_GRANTED:
        return true;
    case WEB_ACCESS_NO_TOKEN:
        return refuse_token(conn, CHALLENGE "\r\n", "a token is needed");
    case WEB_ACCESS_NO_BEARER:
        return refuse_token(conn, CHALLENGE "\r\n", "Authorization has no Bearer token");
    case WEB_ACCESS_UNKNOWN_TOKEN:
        return refuse_token(conn, CHALLENGE ", error=\"invalid_token\"\r\n",
                            "the token is not one of those in http.tokens");
    case WEB_ACCESS_ORIGIN:
        return refuse_value(conn, 403, fields->values[WEB_FIELD_ORIGIN],
                            "Origin is not in http.cors_origins");
    case WEB_ACCESS_SITE:
        return refuse_value(conn, 403, fields->values[WEB_FIELD_SEC_FETCH_SITE],
                            "a page of another site calls without an Origin, which "
                            "http.cors_origins would have to name");
    case WEB_ACCESS_REFERER:
        return refuse_value(conn, 403, fields->values[WEB_FIELD_REFERER],
                            "Referer is a page of another site, and not in http.cors_origins");
    }
    UNREACHABLE();
}

bool web_caller_check_function(struct web_conn *conn, const char *globs)
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
