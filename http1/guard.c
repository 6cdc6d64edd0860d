/* SPDX-License-Identifier: MIT */
#include "http1/guard.h"

#include "core/base/digits.h"

#include "http1/list.h"
#include "http1/user.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

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

static void keep_host(struct http1_shared *shared, struct slice host)
{
    if (host.len <= sizeof shared->host) {
        memcpy(shared->host, host.ptr, host.len);
        shared->host_len = (uint8_t)host.len;
    }
}

bool http1_host_allowed(struct http1_shared *shared, struct slice host)
{
    struct slice name;

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
    return http1_list_names(shared->options->hosts, name);
}

bool http1_origin_allowed(const struct http1_shared *shared, struct slice origin)
{
    const char *origins = shared->options->cors_origins;

    return origins && (http1_list_names(origins, origin) || http1_list_names(origins, SLICE("*")));
}

static bool begins(struct slice text, struct slice start)
{
    return text.len >= start.len && strncasecmp(text.ptr, start.ptr, start.len) == 0;
}

// Finds the origin in the address of a page, and the part of it after the scheme. False if there is
// none.
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

// Whether there is no Referer, or it is one of the server's own answers or an allowed page.
static bool referer_allowed(const struct http1_shared *shared, const struct http1_fields *fields)
{
    struct slice referer = fields->values[HTTP1_FIELD_REFERER];
    struct slice host = fields->values[HTTP1_FIELD_HOST];
    struct slice origin, authority;

    return referer.len == 0 ||
           (origin_of(referer, &origin, &authority) &&
            (http1_same_word(authority, host) || http1_origin_allowed(shared, origin)));
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

    return shared->user->has_pages && origin_of(said, &origin, &authority) &&
           origin.len == said.len && http1_same_word(authority, fields->values[HTTP1_FIELD_HOST]) &&
           (!http1_has(fields, HTTP1_FIELD_SEC_FETCH_SITE) || is_same_origin(fields));
}

// Sec-Fetch-Site says which site's page calls. Old browsers do not send it, and no browser sends it
// to an address without TLS other than the loopback: then only the page's address (Referer) shows
// it.
enum http1_page http1_guard_check(const struct http1_shared *shared,
                                  const struct http1_fields *fields)
{
    struct slice site = fields->values[HTTP1_FIELD_SEC_FETCH_SITE];

    if (http1_has(fields, HTTP1_FIELD_ORIGIN)) {
        return http1_origin_allowed(shared, fields->values[HTTP1_FIELD_ORIGIN]) ||
                       is_own_page(shared, fields)
                   ? HTTP1_PAGE_NONE
                   : HTTP1_PAGE_ORIGIN;
    }
    if (http1_has(fields, HTTP1_FIELD_SEC_FETCH_SITE)) {
        return http1_same_word(site, SLICE("none")) || is_same_origin(fields) ? HTTP1_PAGE_NONE
                                                                              : HTTP1_PAGE_SITE;
    }
    return referer_allowed(shared, fields) ? HTTP1_PAGE_NONE : HTTP1_PAGE_REFERER;
}
