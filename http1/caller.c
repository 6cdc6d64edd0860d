/* SPDX-License-Identifier: MIT */
#include "http1/caller.h"

#include "core/base/macros.h"

#include "http1/guard.h"
#include "http1/reply.h"
#include "http1/request.h"
#include "http1/user.h"

#include <stdio.h>

// A longer origin is refused: no real site has one.
#define ORIGIN_MAX 512
#define CHALLENGE "WWW-Authenticate: Bearer realm=\"tandem\""

// The token of a request: `Authorization: Bearer <token>`.
enum http1_bearer {
    HTTP1_BEARER_NONE,  // no Authorization
    HTTP1_BEARER_OTHER, // another scheme, which is ignored
    HTTP1_BEARER_TOKEN,
    HTTP1_BEARER_EMPTY, // the scheme without a token
    HTTP1_BEARER_TWICE  // more than one Authorization: a proxy may have checked another one
};

// Sets `*token`, a nonempty part of the head, only for HTTP1_BEARER_TOKEN.
static enum http1_bearer http1_bearer_read(const struct http1_fields *fields, struct slice *token)
{
    const struct slice scheme = SLICE("Bearer");
    struct slice text = fields->values[HTTP1_FIELD_AUTHORIZATION];

    if (!http1_has(fields, HTTP1_FIELD_AUTHORIZATION)) {
        return HTTP1_BEARER_NONE;
    }
    if (http1_repeats(fields, HTTP1_FIELD_AUTHORIZATION)) {
        return HTTP1_BEARER_TWICE;
    }
    if (text.len < scheme.len || !http1_same_word(slice_of(text.ptr, scheme.len), scheme)) {
        return HTTP1_BEARER_OTHER;
    }
    text = slice_from(text, scheme.len);
    if (text.len > 0 && *text.ptr != ' ') {
        return HTTP1_BEARER_OTHER;
    }
    while (text.len > 0 && *text.ptr == ' ') {
        text = slice_from(text, 1);
    }
    *token = text;
    return text.len > 0 ? HTTP1_BEARER_TOKEN : HTTP1_BEARER_EMPTY;
}

static const struct http1_texts *texts_of(const struct http1_conn *conn)
{
    return &conn->shared->user->texts;
}

// Refuses because of that value of the request. Always false.
static bool refuse_value(struct http1_conn *conn, unsigned status, struct slice value,
                         const char *why)
{
    http1_refuse(conn, &(struct http1_reply){.status = status, .shown = value}, why);
    return false;
}

static bool refuse_with(struct http1_conn *conn, unsigned status, const char *extra,
                        const char *why)
{
    http1_refuse(conn, &(struct http1_reply){.status = status, .extra = extra}, why);
    return false;
}

void http1_caller_refuse(struct http1_conn *conn, struct slice shown)
{
    if (conn->request->proven) {
        (void)refuse_value(conn, 403, shown, texts_of(conn)->forbidden);
    } else {
        (void)refuse_with(conn, 401, CHALLENGE "\r\n", "a token is needed");
    }
}

//
// Pages
//

// Checks strictly, because the origin is copied into a header of the answer.
static bool is_origin(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~') {
            return false;
        }
    }
    return text.len <= ORIGIN_MAX;
}

bool http1_caller_note_origin(struct http1_conn *conn, const struct http1_fields *fields)
{
    struct slice origin = fields->values[HTTP1_FIELD_ORIGIN];
    bool may_see = http1_has(fields, HTTP1_FIELD_ORIGIN) && is_origin(origin) &&
                   http1_origin_allowed(conn->shared, origin);

    if (may_see && !http1_request_set_origin(conn->request, origin)) {
        http1_refuse_memory(conn);
        return false;
    }
    return true;
}

static bool check_host(struct http1_conn *conn, const struct http1_fields *fields)
{
    struct slice host = fields->values[HTTP1_FIELD_HOST];

    return !http1_has(fields, HTTP1_FIELD_HOST) || http1_host_allowed(conn->shared, host) ||
           refuse_value(conn, 403, host, texts_of(conn)->host);
}

bool http1_caller_check_page(struct http1_conn *conn, const struct http1_fields *fields)
{
    switch (http1_guard_check(conn->shared, fields)) {
    case HTTP1_PAGE_NONE:
        return true;
    case HTTP1_PAGE_ORIGIN:
        return refuse_value(conn, 403, fields->values[HTTP1_FIELD_ORIGIN], texts_of(conn)->origin);
    case HTTP1_PAGE_SITE:
        return refuse_value(conn, 403, fields->values[HTTP1_FIELD_SEC_FETCH_SITE],
                            texts_of(conn)->site);
    case HTTP1_PAGE_REFERER:
        return refuse_value(conn, 403, fields->values[HTTP1_FIELD_REFERER],
                            texts_of(conn)->referer);
    }
    UNREACHABLE();
}

//
// Callers
//

// From here on, the core's operations check the caller's rights.
static void take(struct http1_conn *conn, const struct wire_caller *caller)
{
    conn->request->proven = caller->kind == CALLER_KNOWN;
    (void)broker_session_grant(conn->session, caller->grants);
}

static bool may_anything(const struct http1_conn *conn)
{
    struct grants *grants = broker_session_grants(conn->session);

    return !grants || (grants_somewhere(grants) & conn->shared->user->rights) != 0;
}

// A caller without a token has the identity of the connection.
static bool take_peer(struct http1_conn *conn)
{
    struct wire_caller peer = wire_identify(conn->wire, &(struct wire_claim){.token = NULL});

    if (peer.kind != CALLER_ADDRESS && peer.kind != CALLER_KNOWN) {
        // The host fails here only for lack of memory.
        http1_refuse_memory(conn);
        return false;
    }
    take(conn, &peer);
    if (!conn->request->proven && !may_anything(conn)) {
        http1_caller_refuse(conn, SLICE(""));
        return false;
    }
    return true;
}

// A browser sends its address, user and certificate for any page, so pages are checked.
static bool check_peer(struct http1_conn *conn, const struct http1_fields *fields,
                       enum http1_bearer bearer)
{
    if (conn->shared->tokens && !conn->ruled) {
        return refuse_with(conn, 401, CHALLENGE "\r\n",
                           bearer == HTTP1_BEARER_NONE ? "a token is needed"
                                                       : "Authorization has no Bearer token");
    }
    return check_host(conn, fields) && http1_caller_check_page(conn, fields) &&
           (!conn->ruled || take_peer(conn));
}

// The token is wrong, after too many wrong ones from its address. The delayed answer slows down
// guessing, and the connection cannot be used meanwhile.
static bool refuse_at(struct http1_conn *conn, nsec_t again_at)
{
    conn->request->slowed = true;
    conn->wire->deadline_at = again_at;
    return false;
}

void http1_caller_refuse_slowed(struct http1_conn *conn)
{
    http1_request_last(conn->request);
    (void)refuse_with(conn, 429, "Retry-After: 1\r\n",
                      "too many tokens from this address were wrong");
}

static bool check_token(struct http1_conn *conn, struct slice token)
{
    const struct wire_claim claim = {.token = &token, .also = conn->shared->tokens};
    struct wire_caller caller = wire_identify(conn->wire, &claim);

    switch (caller.kind) {
    case CALLER_ADDRESS:
    case CALLER_KNOWN:
        take(conn, &caller);
        return true;
    case CALLER_UNKNOWN:
        return refuse_with(conn, 401, CHALLENGE ", error=\"invalid_token\"\r\n",
                           texts_of(conn)->bad_token);
    case CALLER_LATER:
        return refuse_at(conn, caller.again_at);
    }
    UNREACHABLE();
}

bool http1_caller_check(struct http1_conn *conn, const struct http1_fields *fields)
{
    enum http1_bearer bearer = HTTP1_BEARER_NONE;
    struct slice token;

    if (http1_caller_has_rules(conn)) {
        bearer = http1_bearer_read(fields, &token);
    }
    switch (bearer) {
    case HTTP1_BEARER_NONE:
    case HTTP1_BEARER_OTHER:
        return check_peer(conn, fields, bearer);
    case HTTP1_BEARER_TOKEN:
        return check_token(conn, token);
    case HTTP1_BEARER_EMPTY:
        return refuse_with(conn, 401, CHALLENGE "\r\n", "Authorization has no Bearer token");
    case HTTP1_BEARER_TWICE:
        return refuse_with(conn, 400, NULL, "Authorization is there more than once");
    }
    UNREACHABLE();
}

bool http1_caller_check_open(struct http1_conn *conn, const struct http1_fields *fields)
{
    return http1_caller_has_rules(conn) || check_host(conn, fields);
}
