/* SPDX-License-Identifier: MIT */
#include "proto_http/guard.h"

#include "core/digits.h"

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

    if (host.len > 0 && slice_equal(host, slice_of(shared->host, shared->host_len))) {
        return true;
    }
    if (!host_name(host, &name)) {
        return false;
    }
    if (is_address(name) || web_same_word(name, SLICE("localhost"))) {
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

static enum web_pass check_token(const struct web_shared *shared, struct slice authorization,
                                 const char **globs)
{
    const struct slice bearer = SLICE(BEARER);

    *globs = NULL;
    if (authorization.len > bearer.len &&
        strncasecmp(authorization.ptr, bearer.ptr, bearer.len) == 0) {
        *globs = web_tokens_find(shared->tokens, slice_from(authorization, bearer.len));
    }
    return *globs ? WEB_PASS : WEB_PASS_UNKNOWN;
}

enum web_pass web_guard(const struct web_shared *shared, const struct web_fields *fields,
                        const char **globs)
{
    struct slice site = fields->values[WEB_FIELD_SEC_FETCH_SITE];

    if (shared->tokens) {
        return check_token(shared, fields->values[WEB_FIELD_AUTHORIZATION], globs);
    }
    *globs = NULL;
    if (web_has(fields, WEB_FIELD_ORIGIN)) {
        return web_origin_allowed(shared, fields->values[WEB_FIELD_ORIGIN]) ? WEB_PASS
                                                                            : WEB_PASS_FORBIDDEN;
    }
    return !web_has(fields, WEB_FIELD_SEC_FETCH_SITE) || web_same_word(site, SLICE("none")) ||
                   web_same_word(site, SLICE("same-origin"))
               ? WEB_PASS
               : WEB_PASS_FORBIDDEN;
}

bool web_function_allowed(const struct web_shared *shared, const char *globs, struct slice function)
{
    const char *offered = shared->options->functions;

    return (!globs || web_globs_match(globs, function)) &&
           (!*offered || web_globs_match(offered, function));
}
