/* SPDX-License-Identifier: MIT */
#include "http1/caller.h"

#include "core/base/digits.h"

#include "http1/reply.h"
#include "http1/user.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// A longer origin is refused: no real site has one.
#define ORIGIN_MAX 512
#define CHALLENGE "WWW-Authenticate: Bearer realm=\"tandem\""

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
        (void)refuse_with(conn, 401, CHALLENGE "\r\n", "a token is required");
    }
}

//
// Protection against web pages that call the server. A loopback address does not protect it: any
// page in a browser on the machine can send requests to it. Nor does a client certificate, which a
// browser sends for any page. A request with a token is not checked, because such a page has no
// token.
//

// Removes the port, if there is one. False if the value is not a host and port.
static bool host_name(struct slice host, struct slice *name)
{
    const char *bracket = host.len && *host.ptr == '[' ? memchr(host.ptr, ']', host.len) : NULL;
    size_t len = bracket ? (size_t)(bracket - host.ptr) + 1 : 0;
    uint64_t port;

    while (len < host.len && host.ptr[len] != ':') {
        len++;
    }
    *name = slice_of(host.ptr, len);
    if (len == host.len) {
        return len > 0;
    }
    return len > 0 && digits_read(slice_from(host, len + 1), &port) && port <= UINT16_MAX;
}

static bool is_address(struct slice name)
{
    bool v6 = name.len > 2 && *name.ptr == '[';
    struct slice bare = v6 ? slice_of(name.ptr + 1, name.len - 2) : name;
    char text[INET6_ADDRSTRLEN];
    struct in6_addr addr;

    if (bare.len >= sizeof text) {
        return false;
    }
    memcpy(text, bare.ptr, bare.len);
    text[bare.len] = '\0';
    return inet_pton(v6 ? AF_INET6 : AF_INET, text, &addr) == 1;
}

// Whether the value of Host is an IP address, localhost, or one of options->hosts: under another
// name, a foreign page might pretend to be of the same origin (DNS rebinding). If `*` is one of
// them, the value is not checked. Caches the last address or localhost, since most requests have
// the same Host.
static bool host_allowed(struct http1_shared *shared, struct slice host)
{
    struct slice name;

    if (host.len > 0 && slice_equal(host, slice_of(shared->host, shared->host_len))) {
        return true;
    }
    if (http1_list_names(shared->options->hosts, SLICE("*"))) {
        return true;
    }
    if (!host_name(host, &name)) {
        return false;
    }
    if (is_address(name) || http1_same_word(name, SLICE("localhost"))) {
        if (host.len <= sizeof shared->host) {
            memcpy(shared->host, host.ptr, host.len);
            shared->host_len = (uint8_t)host.len;
        }
        return true;
    }
    return http1_hosts_have(shared->options->hosts, name);
}

// Whether options->cors_origins contains the origin or `*`.
static bool origin_allowed(const struct http1_shared *shared, struct slice origin)
{
    const char *origins = shared->options->cors_origins;

    return origins && (http1_list_names(origins, origin) || http1_list_names(origins, SLICE("*")));
}

static bool begins_with_nocase(struct slice text, struct slice start)
{
    return text.len >= start.len && strncasecmp(text.ptr, start.ptr, start.len) == 0;
}

// Finds the origin in the address of a page, and the part of it after the scheme. False if there is
// none.
static bool origin_of_page(struct slice page, struct slice *origin, struct slice *authority)
{
    size_t scheme = begins_with_nocase(page, SLICE("http://"))    ? sizeof "http://" - 1
                    : begins_with_nocase(page, SLICE("https://")) ? sizeof "https://" - 1
                                                                  : 0;
    static const char ends[] = {'/', '?', '#'};
    size_t len = scheme;

    while (len < page.len && !memchr(ends, page.ptr[len], sizeof ends)) {
        len++;
    }
    *origin = slice_of(page.ptr, len);
    *authority = slice_of(page.ptr + scheme, len - scheme);
    return scheme > 0 && len > scheme;
}

// Whether there is no Referer, or it is one of the server's own answers or an allowed page.
static bool referer_allowed(const struct http1_shared *shared, const struct http1_fields *fields)
{
    struct slice referer = fields->values[HTTP1_FIELD_REFERER];
    struct slice host = fields->values[HTTP1_FIELD_HOST];
    struct slice origin, authority;

    return referer.len == 0 ||
           (origin_of_page(referer, &origin, &authority) &&
            (http1_same_word(authority, host) || origin_allowed(shared, origin)));
}

static bool is_same_origin(const struct http1_fields *fields)
{
    return http1_same_word(fields->values[HTTP1_FIELD_SEC_FETCH_SITE], SLICE("same-origin"));
}

// Whether it is a page of this server that sends its Origin, as it does with changes. The scheme is
// not compared, because TLS may end at a proxy; browsers with Sec-Fetch-Site have compared it.
static bool is_own_page(const struct http1_shared *shared, const struct http1_fields *fields)
{
    struct slice said = fields->values[HTTP1_FIELD_ORIGIN];
    struct slice origin, authority;

    return shared->user->has_pages && origin_of_page(said, &origin, &authority) &&
           origin.len == said.len && http1_same_word(authority, fields->values[HTTP1_FIELD_HOST]) &&
           (!http1_has(fields, HTTP1_FIELD_SEC_FETCH_SITE) || is_same_origin(fields));
}

// Checks strictly, because the origin is copied into a header of the answer.
static bool is_header_safe(struct slice text)
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
    bool may_see = http1_has(fields, HTTP1_FIELD_ORIGIN) && is_header_safe(origin) &&
                   origin_allowed(conn->shared, origin);

    if (may_see) {
        char *copy = malloc(origin.len + 1);

        if (!copy) {
            http1_refuse_memory(conn);
            return false;
        }
        memcpy(copy, origin.ptr, origin.len);
        copy[origin.len] = '\0';
        conn->request->origin = copy;
    }
    return true;
}

static bool check_host(struct http1_conn *conn, const struct http1_fields *fields)
{
    struct slice host = fields->values[HTTP1_FIELD_HOST];

    return !http1_has(fields, HTTP1_FIELD_HOST) || host_allowed(conn->shared, host) ||
           refuse_value(conn, 403, host, texts_of(conn)->host);
}

// Sec-Fetch-Site says which site's page calls. Old browsers do not send it, and no browser sends it
// to an address without TLS other than the loopback: then only the page's address (Referer) shows
// it. If the user serves pages, a page of the same Host may call; check_host() checks that Host.
bool http1_caller_check_page(struct http1_conn *conn, const struct http1_fields *fields)
{
    struct slice origin = fields->values[HTTP1_FIELD_ORIGIN];
    struct slice site = fields->values[HTTP1_FIELD_SEC_FETCH_SITE];

    if (http1_has(fields, HTTP1_FIELD_ORIGIN)) {
        return origin_allowed(conn->shared, origin) || is_own_page(conn->shared, fields) ||
               refuse_value(conn, 403, origin, texts_of(conn)->origin);
    }
    if (http1_has(fields, HTTP1_FIELD_SEC_FETCH_SITE)) {
        return http1_same_word(site, SLICE("none")) || is_same_origin(fields) ||
               refuse_value(conn, 403, site, texts_of(conn)->site);
    }
    return referer_allowed(conn->shared, fields) ||
           refuse_value(conn, 403, fields->values[HTTP1_FIELD_REFERER], texts_of(conn)->referer);
}

//
// Callers
//

// From here on, the core's operations check the caller's rights.
static void take_caller(struct http1_conn *conn, const struct wire_caller *caller)
{
    conn->request->proven = caller->kind == CALLER_KNOWN;
    (void)broker_session_grant(conn->session, caller->grants);
}

// A caller without a token has the identity of the connection. A browser sends its address, user
// and certificate for any page, so pages are checked. If only tokens give rights, it is refused,
// because of `why`.
static bool check_peer(struct http1_conn *conn, const struct http1_fields *fields, const char *why)
{
    struct wire_caller peer;
    struct grants *grants;

    if (conn->shared->tokens && !conn->ruled) {
        return refuse_with(conn, 401, CHALLENGE "\r\n", why);
    }
    if (!check_host(conn, fields) || !http1_caller_check_page(conn, fields)) {
        return false;
    }
    if (!conn->ruled) {
        return true;
    }
    peer = wire_identify(conn->wire, &(struct wire_claim){.token = NULL});
    if (peer.kind != CALLER_ADDRESS && peer.kind != CALLER_KNOWN) {
        // The host fails here only for lack of memory.
        http1_refuse_memory(conn);
        return false;
    }
    take_caller(conn, &peer);
    grants = broker_session_grants(conn->session);
    if (!conn->request->proven && grants &&
        (grants_somewhere(grants) & conn->shared->user->rights) == 0) {
        http1_caller_refuse(conn, SLICE(""));
        return false;
    }
    return true;
}

void http1_caller_refuse_slowed(struct http1_conn *conn)
{
    http1_request_last(conn->request);
    (void)refuse_with(conn, 429, "Retry-After: 1\r\n", "too many wrong tokens from this address");
}

static bool check_token(struct http1_conn *conn, struct slice token)
{
    const struct wire_claim claim = {.token = &token, .also = conn->shared->tokens};
    struct wire_caller caller = wire_identify(conn->wire, &claim);

    switch (caller.kind) {
    case CALLER_ADDRESS:
    case CALLER_KNOWN:
        take_caller(conn, &caller);
        return true;
    case CALLER_UNKNOWN:
        return refuse_with(conn, 401, CHALLENGE ", error=\"invalid_token\"\r\n",
                           texts_of(conn)->bad_token);
    case CALLER_LATER:
        // There were too many wrong tokens from this address. The delayed answer slows down
        // guessing, and the connection cannot be used meanwhile.
        conn->request->slowed = true;
        conn->wire->deadline_at = caller.again_at;
        return false;
    }
    UNREACHABLE();
}

bool http1_caller_check(struct http1_conn *conn, const struct http1_fields *fields)
{
    static const char no_token[] = "Authorization does not contain a Bearer token";
    const struct slice scheme = SLICE("Bearer");
    struct slice text = fields->values[HTTP1_FIELD_AUTHORIZATION];

    if (!http1_caller_has_rules(conn) || !http1_has(fields, HTTP1_FIELD_AUTHORIZATION)) {
        return check_peer(conn, fields, "a token is required");
    }
    // A proxy may have checked another one.
    if (http1_repeats(fields, HTTP1_FIELD_AUTHORIZATION)) {
        return refuse_with(conn, 400, NULL, "Authorization is given more than once");
    }
    // Other schemes are ignored.
    if (text.len < scheme.len || !http1_same_word(slice_of(text.ptr, scheme.len), scheme) ||
        (text.len > scheme.len && text.ptr[scheme.len] != ' ')) {
        return check_peer(conn, fields, no_token);
    }
    text = slice_from(text, scheme.len);
    while (text.len > 0 && *text.ptr == ' ') {
        text = slice_from(text, 1);
    }
    return text.len > 0 ? check_token(conn, text)
                        : refuse_with(conn, 401, CHALLENGE "\r\n", no_token);
}

bool http1_caller_check_open(struct http1_conn *conn, const struct http1_fields *fields)
{
    return http1_caller_has_rules(conn) || check_host(conn, fields);
}
