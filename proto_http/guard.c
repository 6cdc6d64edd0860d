/* SPDX-License-Identifier: MIT */
#include "proto_http/guard.h"

#include "core/base/digits.h"

#include "proto_http/fields.h"
#include "proto_http/list.h"
#include "proto_http/tokens.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define BEARER "Bearer "

// Without the port, if that is one; false where the value is no host and port.
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

static void keep_host(struct web_shared *shared, struct slice host)
{
    if (host.len <= sizeof shared->host) {
        memcpy(shared->host, host.ptr, host.len);
        shared->host_len = (uint8_t)host.len;
    }
}

bool web_host_allowed(struct web_shared *shared, struct slice host)
{
    struct slice name;

    if (shared->tokens) {
        return true;
    }
    if (host.len > 0 && slice_equal(host, slice_of(shared->host, shared->host_len))) {
        return true;
    }
    if (!host_name(host, &name)) {
        return false;
    }
    if (is_address(name) || http1_same_word(name, SLICE("localhost"))) {
        keep_host(shared, host);
        return true;
    }
    return web_list_names(shared->options->hosts, name);
}

bool web_origin_allowed(const struct web_shared *shared, struct slice origin)
{
    const char *origins = shared->options->cors_origins;

    return web_list_names(origins, origin) || web_list_names(origins, SLICE("*"));
}

static enum web_access check_token(const struct web_shared *shared,
                                   const struct http1_fields *fields, const char **globs)
{
    struct slice authorization = fields->values[WEB_FIELD_AUTHORIZATION];
    const struct slice bearer = SLICE(BEARER);

    *globs = NULL;
    if (!http1_has(fields, WEB_FIELD_AUTHORIZATION)) {
        return WEB_ACCESS_NO_TOKEN;
    }
    if (authorization.len <= bearer.len ||
        strncasecmp(authorization.ptr, bearer.ptr, bearer.len) != 0) {
        return WEB_ACCESS_NO_BEARER;
    }
    *globs = web_tokens_find(shared->tokens, slice_from(authorization, bearer.len));
    return *globs ? WEB_ACCESS_GRANTED : WEB_ACCESS_UNKNOWN_TOKEN;
}

static bool begins(struct slice text, struct slice start)
{
    return text.len >= start.len && strncasecmp(text.ptr, start.ptr, start.len) == 0;
}

// The origin in the address of a page, and what follows the scheme in it; false where it has none.
static bool origin_of(struct slice page, struct slice *origin, struct slice *authority)
{
    size_t scheme = begins(page, SLICE("http://"))    ? sizeof "http://" - 1
                    : begins(page, SLICE("https://")) ? sizeof "https://" - 1
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

// Whether the request comes from nowhere, from one of our own answers, or from a page that may
// call.
static bool referer_allowed(const struct web_shared *shared, const struct http1_fields *fields)
{
    struct slice referer = fields->values[WEB_FIELD_REFERER];
    struct slice host = fields->values[HTTP1_FIELD_HOST];
    struct slice origin, authority;

    return referer.len == 0 ||
           (origin_of(referer, &origin, &authority) &&
            (http1_same_word(authority, host) || web_origin_allowed(shared, origin)));
}

// A browser says in Sec-Fetch-Site which site's page calls. Old browsers do not, and none does to
// an address without TLS other than the loopback: then only the page's address (Referer) can tell.
enum web_access web_guard_check(const struct web_shared *shared, const struct http1_fields *fields,
                                const char **globs)
{
    struct slice site = fields->values[WEB_FIELD_SEC_FETCH_SITE];

    if (shared->tokens) {
        return check_token(shared, fields, globs);
    }
    *globs = NULL;
    if (http1_has(fields, WEB_FIELD_ORIGIN)) {
        return web_origin_allowed(shared, fields->values[WEB_FIELD_ORIGIN]) ? WEB_ACCESS_GRANTED
                                                                            : WEB_ACCESS_ORIGIN;
    }
    if (http1_has(fields, WEB_FIELD_SEC_FETCH_SITE)) {
        return http1_same_word(site, SLICE("none")) || http1_same_word(site, SLICE("same-origin"))
                   ? WEB_ACCESS_GRANTED
                   : WEB_ACCESS_SITE;
    }
    return referer_allowed(shared, fields) ? WEB_ACCESS_GRANTED : WEB_ACCESS_REFERER;
}

bool web_function_granted(const char *globs, struct slice function)
{
    return !globs || web_globs_match(globs, function);
}

bool web_function_offered(const struct web_shared *shared, struct slice function)
{
    const char *offered = shared->options->functions;

    return !*offered || web_globs_match(offered, function);
}

bool web_function_is_probe(struct slice function)
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

    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        if (slice_equal(function, probes[i])) {
            return true;
        }
    }
    return begins(function, SLICE(".well-known/"));
}
