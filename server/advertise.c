/* SPDX-License-Identifier: MIT */
#include "server/advertise.h"

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
};

// An address as the log has it: `[tls:]HOST:PORT` or `[tls:]unix:PATH`.
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
    if (strncmp(address, UNIX, strlen(UNIX)) == 0 || !port) {
        return;
    }
    len = snprintf(advertised->text + advertised->len, room, "%s%s%s=%s%s%s%s",
                   advertised->len > 0 ? " " : "", protocol, tls ? "+tls" : "", bare ? "[" : "",
                   host, bare ? "]" : "", port);
    if (len < 0 || (size_t)len >= room) {
        advertised->text[advertised->len] = '\0';
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
        for (size_t n = 0; (address = listeners_address(listeners, frontends[i]->name, n)); n++) {
            add(&advertised, frontends[i]->name, address);
        }
    }
}
