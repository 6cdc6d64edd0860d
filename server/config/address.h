/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_ADDRESS_H
#define TANDEM_SERVER_CONFIG_ADDRESS_H

// The text of a `listen` key: addresses divided by spaces or commas. Each is `host:port`,
// `[v6]:port`, `*:port` or `:port` for every address of the machine, or `unix:/path`, with `tls:`
// in front where TLS is spoken there. Port 0 asks for any free one. Only the form is judged here;
// names are looked up when a listener opens.

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <stdbool.h>
#include <sys/un.h>

struct address {
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; // unix; empty for TCP
    char host[256];                                         // empty for any address
    char port[6];
    bool tls;
};

// In front of an address with TLS, in a `listen` key and in the log.
#define ADDRESS_TLS "tls:"

enum address_next { ADDRESS_FOUND, ADDRESS_END, ADDRESS_BAD };

// The next address of the list; moves `*cursor`, which starts at the beginning of the text, behind
// it. ADDRESS_BAD with the reason in `why`.
enum address_next address_next(const char **cursor, struct address *address,
                               struct error_text *why) MUST_USE;

// Whether the whole list is well formed.
bool address_list_check(const char *text, struct error_text *why) MUST_USE;

// Whether an address of the list, which is well formed, is one with TLS.
bool address_list_has_tls(const char *text);

#endif
