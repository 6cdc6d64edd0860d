/* SPDX-License-Identifier: MIT */
#include "server/config/address.h"

#include "core/base/slice.h"

#include <string.h>

#define DIVIDERS " \t,"

static bool address_bad(struct slice text, const char *what, struct reason *why)
{
    reason_set(why, "`%.*s`: %s", (int)text.len, text.ptr, what);
    return false;
}

static bool parse_unix(struct slice text, struct slice path, struct address *address,
                       struct reason *why)
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
                       struct reason *why)
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
                       struct reason *why)
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

static bool address_parse(struct slice text, struct address *address, struct reason *why)
{
    const struct slice prefix = SLICE("unix:");
    size_t colon = text.len;

    memset(address, 0, sizeof *address);
    if (text.len >= prefix.len && memcmp(text.ptr, prefix.ptr, prefix.len) == 0) {
        return parse_unix(text, slice_from(text, prefix.len), address, why);
    }
    while (colon > 0 && text.ptr[colon - 1] != ':') {
        colon--;
    }
    if (colon == 0) {
        return address_bad(text, "expected host:port or unix:/path", why);
    }
    return parse_port(text, slice_from(text, colon), address, why) &&
           parse_host(text, slice_of(text.ptr, colon - 1), address, why);
}

enum address_next address_next(const char **cursor, struct address *address, struct reason *why)
{
    const char *text = *cursor + strspn(*cursor, DIVIDERS);
    size_t len = strcspn(text, DIVIDERS);

    *cursor = text + len;
    if (len == 0) {
        return ADDRESS_END;
    }
    return address_parse(slice_of(text, len), address, why) ? ADDRESS_FOUND : ADDRESS_BAD;
}

bool address_list_check(const char *text, struct reason *why)
{
    struct address address;
    enum address_next next;

    do {
        next = address_next(&text, &address, why);
    } while (next == ADDRESS_FOUND);
    return next == ADDRESS_END;
}
