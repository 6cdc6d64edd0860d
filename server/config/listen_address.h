/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_LISTEN_ADDRESS_H
#define TANDEM_SERVER_CONFIG_LISTEN_ADDRESS_H

// The text of a `listen` key: addresses separated by spaces or commas. Each is `host:port`,
// `[v6]:port`, `*:port` or `:port` for every address of the machine, or `unix:/path`, with the
// prefix `tls:` for TLS; in front of that, with `proxy:` if each connection begins with a head of
// the PROXY protocol (server/net/proxied.h). Port 0 selects any free port. Only the form is
// checked; names are resolved when a listener opens.

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <stdbool.h>
#include <sys/un.h>

struct listen_address {
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; // unix; empty for TCP
    char host[256];                                         // empty for any address
    char port[6];
    bool tls;
    bool proxied;
};

// The prefixes of an address with TLS, and of one with the PROXY protocol, in a `listen` key and in
// the log.
#define ADDRESS_TLS "tls:"
#define ADDRESS_PROXY "proxy:"

enum address_next { ADDRESS_FOUND, ADDRESS_END, ADDRESS_BAD };

// Parses the next address of the list, and moves `*cursor` behind it; it starts at the beginning of
// the text. ADDRESS_BAD with the reason in `why`.
enum address_next address_next(const char **cursor, struct listen_address *address,
                               struct error_text *why) MUST_USE;

// Whether the list is well-formed.
bool address_list_check(const char *text, struct error_text *why) MUST_USE;

// Whether an address of the well-formed list uses TLS.
bool address_list_has_tls(const char *text);

// Whether an address of the well-formed list expects the PROXY protocol.
bool address_list_has_proxied(const char *text);

#endif
