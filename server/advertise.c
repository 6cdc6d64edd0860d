/* SPDX-License-Identifier: MIT */
#include "server/advertise.h"

#include "core/base/log.h"
#include "server/config/address.h"
#include "server/config/frontends.h"

#include <stdio.h>
#include <string.h>

#define UNIX "unix:"

struct advertised {
    const char *host;
    char *text;
    size_t size;
    size_t len;
    bool has[2]; // the protocol, without TLS and with it
};

// An address as the log has it: `[tls:]HOST:PORT` or `[tls:]unix:PATH`. One place of a kind is
// enough, since nobody would try another.
static void add(struct advertised *advertised, const char *protocol, const char *address)
{
    const char *host = advertised->host;
    bool tls = strncmp(address, ADDRESS_TLS, strlen(ADDRESS_TLS)) == 0;
    bool bare = strchr(host, ':') && *host != '[';
    const char *port;
    size_t room = advertised->size - advertised->len;
    int len;

    address += tls ? strlen(ADDRESS_TLS) : 0;
    port = strrchr(address, ':');
    if (strncmp(address, UNIX, strlen(UNIX)) == 0 || !port || advertised->has[tls]) {
        return;
    }
    advertised->has[tls] = true;
    len = snprintf(advertised->text + advertised->len, room, "%s%s%s=%s%s%s%s",
                   advertised->len > 0 ? " " : "", protocol, tls ? "+tls" : "", bare ? "[" : "",
                   host, bare ? "]" : "", port);
    if (len < 0 || (size_t)len >= room) {
        advertised->text[advertised->len] = '\0';
        log_warn("not_advertised", log_string("protocol", protocol), log_string("address", address),
                 log_string("note", "what others know of this process has no room for it"));
    } else {
        advertised->len += (size_t)len;
    }
}

void advertise_write(const struct listeners *listeners, const char *host, char *text, size_t size)
{
    struct advertised advertised = {.host = host, .text = text, .size = size};
    const char *address;

    *text = '\0';
    for (size_t i = 0; i < FRONTENDS; i++) {
        memset(advertised.has, 0, sizeof advertised.has);
        for (size_t n = 0; (address = listeners_address(listeners, frontends[i]->name, n)); n++) {
            add(&advertised, frontends[i]->name, address);
        }
    }
}
