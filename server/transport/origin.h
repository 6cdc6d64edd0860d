/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_TRANSPORT_ORIGIN_H
#define TANDEM_SERVER_TRANSPORT_ORIGIN_H

// Where a connection comes from, as the kernel says: over IP from an address, or over a unix socket
// from a user of this machine. The kernel is asked when it is wanted, and nothing is kept: few
// connections are ever asked about. What it says of a connection does not change; of one that was
// reset it says nothing any more.

#include "core/base/macros.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Zeroed, it is nowhere.
struct origin {
    bool has_address;
    bool has_user;
    struct in6_addr address; // an IPv4 one is mapped (::ffff:a.b.c.d)
    uid_t user;              // of whoever connected, at that time
    gid_t group;             // its first one
};

// Of the socket's peer.
struct origin origin_of(int fd);

// Whether it is on this machine: the loopback, or a unix socket.
bool origin_is_local(const struct origin *origin);

// The groups of the user at the other end of a unix socket, its first one included; to be freed.
// NULL without memory.
gid_t *origin_groups(int fd, const struct origin *origin, size_t *count) MUST_USE;

// Room for the text of any.
#define ORIGIN_TEXT_MAX 64

// `user:33`, `10.0.0.1`, `2001:db8::1`, or `-`; NUL-terminated. A user's name is not looked up:
// that may wait for somebody.
void origin_text(const struct origin *origin, char text[ORIGIN_TEXT_MAX]);

#endif
