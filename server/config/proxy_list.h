/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_PROXY_LIST_H
#define TANDEM_SERVER_CONFIG_PROXY_LIST_H

// The proxies that may name the client of a connection: addresses and networks, as in `net:` of an
// access rule, separated by spaces or commas; `unix` stands for all processes that can open a unix
// socket.

#include "access/net.h"
#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "server/transport/origin.h"

#include <stdbool.h>
#include <stddef.h>

#define PROXY_LIST_MOST 64

struct proxy_list {
    struct net nets[PROXY_LIST_MOST];
    size_t count;
    bool local; // peers at unix sockets
};

// Parses the text of `server.proxies`. False with the reason in `why`.
bool proxy_list_read(struct proxy_list *list, const char *text, struct error_text *why) MUST_USE;

// Whether a connection from there is one of a proxy.
bool proxy_list_has(const struct proxy_list *list, const struct origin *origin);

#endif
