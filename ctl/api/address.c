/* SPDX-License-Identifier: MIT */
#include "ctl/api/address.h"

#include "core/base/digits.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define PORT_DEFAULT ":9180"

// Advances `*from` past `word`, compared without case.
static bool skip(const char **from, const char *word)
{
    size_t len = strlen(word);

    if (strncasecmp(*from, word, len) != 0) {
        return false;
    }
    *from += len;
    return true;
}

// Whether the text has only characters of a host name or an IP address.
static bool is_host(struct slice host)
{
    static const char others[] = ".-_:[]%";

    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!plain && !memchr(others, c, sizeof others - 1)) {
            return false;
        }
    }
    return host.len > 0;
}

// The offset of the colon before the port, or the length if there is none.
static size_t find_port(struct slice host)
{
    size_t at = host.len;

    while (at > 0 && host.ptr[at - 1] >= '0' && host.ptr[at - 1] <= '9') {
        at--;
    }
    return at > 0 && host.ptr[at - 1] == ':' ? at - 1 : host.len;
}

static bool read_host(struct address *address, struct slice host)
{
    size_t colon = find_port(host);
    struct slice name = slice_of(host.ptr, colon);
    uint64_t port = 1;
    bool brackets = name.len > 2 && name.ptr[0] == '[' && name.ptr[name.len - 1] == ']';

    if (!is_host(name) || (!brackets && memchr(name.ptr, ':', name.len))) {
        return false;
    }
    if (colon < host.len &&
        (!digits_read(slice_from(host, colon + 1), &port) || port == 0 || port > UINT16_MAX)) {
        return false;
    }
    text_add(&address->base, host);
    if (colon == host.len) {
        text_put(&address->base, PORT_DEFAULT);
    }
    return true;
}

bool address_read(struct address *address, const char *from, struct problem *problem)
{
    const char *rest = from;
    size_t len;

    *address = (struct address){0};
    if (skip(&rest, "unix:")) {
        text_put(&address->socket, rest);
        text_put(&address->base, "http://localhost");
        if (*rest == '/') {
            return true;
        }
        (void)problem_set(problem, OUTCOME_USAGE,
                          "\"%s\" is no address: the path of a Unix socket begins with a slash, "
                          "as in unix:/run/tandem/admin.sock",
                          from);
        address_free(address);
        return false;
    }
    address->tls = skip(&rest, "https://");
    text_put(&address->base, address->tls ? "https://" : "http://");
    if (!address->tls) {
        (void)skip(&rest, "http://");
    }
    len = strlen(rest);
    while (len > 0 && rest[len - 1] == '/') {
        len--;
    }
    if (!read_host(address, slice_of(rest, len))) {
        (void)problem_set(problem, OUTCOME_USAGE,
                          "\"%s\" is no address: it should be as " ADDRESS_DEFAULT
                          ", https://host:port, or unix:/path",
                          from);
        address_free(address);
        return false;
    }
    return true;
}

void address_free(struct address *address)
{
    text_free(&address->base);
    text_free(&address->socket);
}
