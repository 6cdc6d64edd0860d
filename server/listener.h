/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LISTENER_H
#define TANDEM_SERVER_LISTENER_H

// The sockets that connections come in at. When the process has no descriptor or memory for one
// more connection, all listeners rest for a moment instead of being told again and again of what
// they cannot take.

#include "core/list.h"
#include "core/macros.h"
#include "server/complaint.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>

// Room for any address as text: `[v6%zone]:port` or `unix:/path`.
#define PEER_TEXT_MAX 128

// A new connection; `fd` does not block and is handed over. `peer` is valid during the call.
typedef void (*listener_accept)(void *context, int fd, const char *peer);

struct listeners {
    struct event_base *base; /* private */
    struct list_node all;    /* private */
    struct event rest;       /* private: ends the rest */
    bool resting;            /* private */
};

// Starts with none. `base` must outlive it.
void listeners_init(struct listeners *listeners, struct event_base *base);

// Listens at each of the addresses of a `listen` key (see address.h) and says so in the log, with
// the real port. False with the reason in `why`; those that are open stay open until
// listeners_close.
bool listeners_open(struct listeners *listeners, const char *addresses, const char *protocol,
                    listener_accept accept, void *context, struct complaint *why) MUST_USE;

// Closes all and removes unix sockets from the file system.
void listeners_close(struct listeners *listeners);

bool listeners_empty(const struct listeners *listeners);

#endif
