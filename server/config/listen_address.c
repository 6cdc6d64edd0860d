/* SPDX-License-Identifier: MIT */
#include "server/config/listen_address.h"

#include "core/base/slice.h"

#include <string.h>

#define ADDRESS_SEPARATORS " \t,"

static bool address_bad(struct slice text, const char *what, struct error_text *why)
{
    return error_set(why, "`%.*s`: %s", (int)text.len, text.ptr, what);
}

static bool address_parse_unix(struct slice text, struct slice path, struct listen_address *address,
                               struct error_text *why)
{
    if (path.len == 0 || path.ptr[0] != '/') {
        return address_bad(text, "the path of a unix socket must begin with /", why);
    }
    if (path.len >= sizeof address->path) {
        return address_bad(text, "the path is too long for a unix socket", why);
    }
    memcpy(address->path, path.ptr, path.len);
    return true;
}

static bool address_parse_port(struct slice text, struct slice port, struct listen_address *address,
                               struct error_text *why)
{
    unsigned long number = 0;

    if (port.len == 0 || port.len >= sizeof address->port) {
        return address_bad(text, "expected a port from 0 to 65535 at the end", why);
    }
    for (size_t i = 0; i < port.len; i++) {
        if (port.ptr[i] < '0' || port.ptr[i] > '9') {
            return address_bad(text, "expected a port from 0 to 65535 at the end", why);
        }
        number = number * 10 + (unsigned long)(port.ptr[i] - '0');
    }
    if (number > 65535) {
        return address_bad(text, "expected a port from 0 to 65535 at the end", why);
    }
    memcpy(address->port, port.ptr, port.len);
    return true;
}

// `host` is the part before the last colon.
static bool address_parse_host(struct slice text, struct slice host, struct listen_address *address,
                               struct error_text *why)
{
    bool brackets = host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']';

    if (slice_equal(host, SLICE("*"))) {
        return true;
    }
    if (brackets) {
        host = slice_of(host.ptr + 1, host.len - 2);
    }
    if (brackets ? host.len == 0 : memchr(host.ptr, ':', host.len) != NULL) {
        return address_bad(text, "an IPv6 address must be in brackets, as in [::1]:11300", why);
    }
    if (host.len >= sizeof address->host) {
        return address_bad(text, "the host name is too long", why);
    }
    memcpy(address->host, host.ptr, host.len);
    return true;
}

// Removes the prefix from `*place`, if it is there.
static bool address_skip_prefix(struct slice *place, struct slice prefix)
{
    bool begins = place->len >= prefix.len && memcmp(place->ptr, prefix.ptr, prefix.len) == 0;

    if (begins) {
        *place = slice_from(*place, prefix.len);
    }
    return begins;
}

// `tls:80` is an error, and a host named tls must be in brackets: an operator who means any address
// with TLS must not get one without. The same holds for `proxy:`.
static bool address_parse(struct slice text, struct listen_address *address, struct error_text *why)
{
    struct slice place = text;
    size_t colon;

    memset(address, 0, sizeof *address);
    address->proxied = address_skip_prefix(&place, SLICE(ADDRESS_PROXY));
    address->tls = address_skip_prefix(&place, SLICE(ADDRESS_TLS));
    if (address->tls && address_skip_prefix(&place, SLICE(ADDRESS_PROXY))) {
        return address_bad(text, "proxy: comes before tls:, as in proxy:tls::443", why);
    }
    if (address_skip_prefix(&place, SLICE("unix:"))) {
        return address_parse_unix(text, place, address, why);
    }
    colon = place.len;
    while (colon > 0 && place.ptr[colon - 1] != ':') {
        colon--;
    }
    if (colon == 0) {
        return address_bad(
            text,
            address->tls
                ? "expected host:port or unix:/path after tls:, or [tls] for a host of that name"
            : address->proxied ? "expected host:port or unix:/path after proxy:, or [proxy] for a "
                                 "host of that name"
                               : "expected host:port or unix:/path",
            why);
    }
    return address_parse_port(text, slice_from(place, colon), address, why) &&
           address_parse_host(text, slice_of(place.ptr, colon - 1), address, why);
}

enum address_next address_next(const char **cursor, struct listen_address *address,
                               struct error_text *why)
{
    const char *text = *cursor + strspn(*cursor, ADDRESS_SEPARATORS);
    size_t len = strcspn(text, ADDRESS_SEPARATORS);

    *cursor = text + len;
    if (len == 0) {
        return ADDRESS_END;
    }
    return address_parse(slice_of(text, len), address, why) ? ADDRESS_FOUND : ADDRESS_BAD;
}

bool address_list_check(const char *text, struct error_text *why)
{
    struct listen_address address;
    enum address_next next;

    do {
        next = address_next(&text, &address, why);
    } while (next == ADDRESS_FOUND);
    return next == ADDRESS_END;
}

static bool address_list_has(const char *text, bool (*is)(const struct listen_address *address))
{
    struct listen_address address;
    struct error_text why;

    while (address_next(&text, &address, &why) == ADDRESS_FOUND) {
        if (is(&address)) {
            return true;
        }
    }
    return false;
}

static bool address_has_tls(const struct listen_address *address)
{
    return address->tls;
}

static bool address_is_proxied(const struct listen_address *address)
{
    return address->proxied;
}

bool address_list_has_tls(const char *text)
{
    return address_list_has(text, address_has_tls);
}

bool address_list_has_proxied(const char *text)
{
    return address_list_has(text, address_is_proxied);
}
