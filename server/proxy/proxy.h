/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROXY_PROXY_H
#define TANDEM_SERVER_PROXY_PROXY_H

// The proxy of a standby: it passes connections to the process that owns the jobs, byte by byte, to
// that process's address for the same protocol. With TLS, the handshake is between the client and
// the owner. Connections by a unix socket go to the address without TLS. If the owner believes this
// process (owner_address.h), a head of the PROXY protocol names the client in front of its first
// byte; for a client at a unix socket, the head says that this process speaks for itself.
//
// It takes a connection only if it can pass it on. While no process owns the jobs, the owner has no
// such address, the name of its host is being looked up, or it was not reached a moment ago,
// connections must be left in the kernel's queue (listeners_shut) for the process that becomes the
// owner.
//
// Bounds: connections at once (capacity_passed), the time to connect, and one pipe for each
// direction of a connection (relay.h). A connection takes two descriptors, and two more for each
// direction with bytes under way. A connection that fails is closed.
//
// All functions are called by the thread that runs the base.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "server/transport/proxy_head.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

// The time that the owner has to accept a connection.
#define PROXY_CONNECT_FOR (3 * NSEC_PER_SEC)

struct peer_limits;
struct proxy;

struct proxy_limits {
    uint64_t most;      // connections at once
    nsec_t connect_for; // PROXY_CONNECT_FOR, or less in a test
    // That connections have entered, and leave when they are closed; NULL: none.
    struct peer_limits *peer_limits;
};

// Has no owner at first. The base and the peer limits must outlive it. NULL without memory.
struct proxy *proxy_new(struct event_base *base, const struct proxy_limits *limits) MUST_USE;

// Limits the connections at once from now on; existing ones stay.
void proxy_limit(struct proxy *proxy, uint64_t most);

// Sets the addresses of the owner, as it advertises them (owner_address.h); empty: no process owns
// the jobs. A different text closes all connections, as they lead to another process.
void proxy_aim(struct proxy *proxy, const char *address_text);

// Whether it can take a connection of that protocol now. The result may change at the end of each
// turn of the base, and after each proxy_take().
bool proxy_can_take(const struct proxy *proxy, const char *protocol, bool tls);

// A connection that is to be passed on.
struct passed_client {
    int fd;
    const char *peer;                   // for the log; copied
    const struct client_address *named; // the client that a proxy has named; copied. NULL: the peer
    bool tls;
};

// Owns a connection, which does not block, and has entered the peer limits. False: the connection
// could not be passed on, and is closed.
bool proxy_take(struct proxy *proxy, const struct passed_client *from, const char *protocol);

// The connections now, and so far.
void proxy_show(const struct proxy *proxy, uint64_t *open, uint64_t *total);

// Closes all connections, and leaves no event in the base. NULL is allowed.
void proxy_free(struct proxy *proxy);

#endif
