/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROXY_HOST_LOOKUP_H
#define TANDEM_SERVER_PROXY_HOST_LOOKUP_H

// The addresses of a host. A thread of its own looks a name up, which may take as long as the
// system needs; a caller that does not want the answer any more does not wait for it.

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
    const char *why; // why there are none; static
};

struct lookup;

// Sets the address of a host that is an address and not a name; otherwise false.
bool lookup_numeric(const char *host, struct lookup_result *result) MUST_USE;

// Begins to look a name up. `done` is called once, by the base, after the lookup was freed. NULL
// without memory, descriptors or a thread.
struct lookup *lookup_begin(struct event_base *base, const char *host,
                            void (*done)(void *context, const struct lookup_result *result),
                            void *context) MUST_USE;

// `done` is not called any more. NULL is allowed.
void lookup_cancel(struct lookup *lookup);

#endif
