/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROXY_PROXY_H
#define TANDEM_SERVER_PROXY_PROXY_H

// What a standby does with connections: it passes them to the process that owns the jobs, bytes as
// they are, to that one's address of the same protocol and kind. With TLS, too, what is passed are
// the bytes as they came: the handshake is between client and owner. A unix socket's connections
// go where those without TLS go.
//
// It takes a connection only where it has somewhere to pass it to: as long as nobody owns the jobs,
// the owner has no such address, its host's name is being looked up, or has just not been
// reached, connections are to be left where they wait to be accepted (listeners_shut), for whoever
// is to serve them.
//
// Bounds: so many connections at once (capacity_passed); so long for a connection to be made; of
// each direction of each connection what a pipe holds (relay.h). One has two descriptors, and two
// more for each direction in which bytes have not been taken by the other side. One that fails is
// closed.
//
// All functions are called by the thread that runs the base.

#include "core/base/macros.h"
#include "core/base/nsec.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

// How long it may take until the owner has accepted a connection.
#define PROXY_CONNECT_FOR (3 * NSEC_PER_SEC)

struct crowd;
struct proxy;

struct proxy_limits {
    uint64_t most;      // connections at once
    nsec_t connect_for; // PROXY_CONNECT_FOR, or less in a test
    struct crowd
        *crowd; // that connections have entered, and leave when they are closed; NULL: none
};

// Is aimed at nobody. The base and the crowd must outlive it. NULL without memory.
struct proxy *proxy_new(struct event_base *base, const struct proxy_limits *limits) MUST_USE;

// So many connections at once from now on; those that are there stay.
void proxy_limit(struct proxy *proxy, uint64_t most);

// Passes connections to the owner that has advertised these places (owner_address.h) from now on;
// empty: nobody owns the jobs. Where the text is another one than before, closes all connections:
// they led to somebody else. The same text again changes nothing.
void proxy_aim(struct proxy *proxy, const char *address_text);

// Whether it takes one more connection of that protocol. What it says may be another at the end of
// any turn of the base, and after each proxy_take().
bool proxy_can_take(const struct proxy *proxy, const char *protocol, bool tls);

// Takes a connection, which does not block, and has entered the crowd. `peer` is for the log and is
// copied. False: it could not, and the connection is closed.
bool proxy_take(struct proxy *proxy, int fd, const char *peer, const char *protocol, bool tls);

// How many connections there are, and how many there were so far.
void proxy_show(const struct proxy *proxy, uint64_t *open, uint64_t *total);

// Closes all connections, and leaves no event in the base. NULL is allowed.
void proxy_free(struct proxy *proxy);

#endif
