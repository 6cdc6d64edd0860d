/* SPDX-License-Identifier: MIT */
#include "server/config/address.h"

#include "core/base/slice.h"

#include <string.h>

#define DIVIDERS " \t,"

static bool address_bad(struct slice text, const char *what, struct error_text *why)
{
    return error_set(why, "`%.*s`: %s", (int)text.len, text.ptr, what);
}

static bool parse_unix(struct slice text, struct slice path, struct address *address,
                       struct error_text *why)
{
    if (path.len == 0 || path.ptr[0] != '/') {
        return address_bad(text, "the path of a unix socket begins with /", why);
    }
    if (path.len >= sizeof address->path) {
        return address_bad(text, "the path is too long for a unix socket", why);
    }
    memcpy(address->path, path.ptr, path.len);
    return true;
}

static bool parse_port(struct slice text, struct slice port, struct address *address,
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

// `host` is what stands before the last colon.
static bool parse_host(struct slice text, struct slice host, struct address *address,
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
        return address_bad(text, "an IPv6 address stands in brackets, as in [::1]:11300", why);
    }
    if (host.len >= sizeof address->host) {
        return address_bad(text, "the host name is too long", why);
    }
    memcpy(address->host, host.ptr, host.len);
    return true;
}

// Takes the prefix off `*place` where it begins with that.
static bool skip_prefix(struct slice *place, struct slice prefix)
{
    bool begins = place->len >= prefix.len && memcmp(place->ptr, prefix.ptr, prefix.len) == 0;

    if (begins) {
        *place = slice_from(*place, prefix.len);
    }
    return begins;
}

// `tls:80` is taken for no host of that name, which stands in brackets: who means any address with
// TLS would have one without.
static bool address_parse(struct slice text, struct address *address, struct error_text *why)
{
    struct slice place = text;
    size_t colon;

    memset(address, 0, sizeof *address);
    address->tls = skip_prefix(&place, SLICE(ADDRESS_TLS));
    if (skip_prefix(&place, SLICE("unix:"))) {
        return parse_unix(text, place, address, why);
    }
    colon = place.len;
    while (colon > 0 && place.ptr[colon - 1] != ':') {
        colon--;
    }
    if (colon == 0) {
        return address_bad(
            text,
            address->tls
                ? "expected host:port or unix:/path behind tls:, or [tls] for a host of that name"
                : "expected host:port or unix:/path",
            why);
    }
    return parse_port(text, slice_from(place, colon), address, why) &&
           parse_host(text, slice_of(place.ptr, colon - 1), address, why);
}

enum address_next address_next(const char **cursor, struct address *address, struct error_text *why)
{
    const char *text = *cursor + strspn(*cursor, DIVIDERS);
    size_t len = strcspn(text, DIVIDERS);

    *cursor = text + len;
    if (len == 0) {
        return ADDRESS_END;
    }
    return address_parse(slice_of(text, len), address, why) ? ADDRESS_FOUND : ADDRESS_BAD;
}

bool address_list_check(const char *text, struct error_text *why)
{
    struct address address;
    enum address_next next;

    do {
        next = address_next(&text, &address, why);
    } while (next == ADDRESS_FOUND);
    return next == ADDRESS_END;
}

bool address_list_has_tls(const char *text)
{
    struct address address;
    struct error_text why;

    while (address_next(&text, &address, &why) == ADDRESS_FOUND) {
        if (address.tls) {
            return true;
        }
    }
    return false;
}
