/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROXY_LOOKUP_H
#define TANDEM_SERVER_PROXY_LOOKUP_H

// The addresses of a host. A name is looked up by a thread of its own, which may take as long as
// the system likes; whoever does not want the answer any more need not wait for it.

#include "core/base/macros.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define LOOKUP_ADDRESSES_MAX 4

struct lookup_address {
    struct sockaddr_storage addr; // its port is 0
    socklen_t len;
};

struct lookup_result {
    struct lookup_address addresses[LOOKUP_ADDRESSES_MAX];
    size_t count;
    const char *why; // there are none; static
};

struct lookup;

// True where the host is no name but an address, which it sets.
bool lookup_numeric(const char *host, struct lookup_result *result) MUST_USE;

// Begins to look the name up. `done` is called once, by the base, and the lookup has been freed
// then. NULL without memory, descriptors or a thread.
struct lookup *lookup_begin(struct event_base *base, const char *host,
                            void (*done)(void *context, const struct lookup_result *result),
                            void *context) MUST_USE;

// `done` is not called any more. NULL is allowed.
void lookup_cancel(struct lookup *lookup);

#endif
