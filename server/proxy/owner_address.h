/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROXY_OWNER_ADDRESS_H
#define TANDEM_SERVER_PROXY_OWNER_ADDRESS_H

// The addresses at which the process that owns the jobs can be reached, as it has written them for
// the others: words separated by blanks, each `PROTOCOL=HOST:PORT`, or `PROTOCOL+tls=HOST:PORT`
// with TLS; an IPv6 address stands in brackets. The word `proxies=LIST`, a list of addresses and
// networks, names the proxies that the owner believes at each of these addresses
// (server/net/proxied.h). The text comes from a database, so invalid words are skipped.

#include "server/config/proxy_list.h"

#include <stdbool.h>
#include <stddef.h>

#define OWNER_PROXIES "proxies="

// One address.
struct owner_place {
    char protocol[16];
    bool tls;
    char host[256];
    char port[6];
};

// Room for the text.
#define OWNER_TEXT_MAX 512
// Each protocol with TLS and without, and a few that are unknown here.
#define OWNER_PLACES_MAX 16

// Reads the addresses of the text; returns their number. Of several for the same protocol, the
// first one counts.
size_t owner_address_read(const char *text, struct owner_place places[OWNER_PLACES_MAX]);

// Reads the proxies of the text; an empty list if it names none, or is invalid.
void owner_address_proxies(const char *text, struct proxy_list *proxies);

#endif
