/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_TRANSPORT_ORIGIN_H
#define TANDEM_SERVER_TRANSPORT_ORIGIN_H

// The origin of a connection, as the kernel reports it: the address of an IP connection, or the
// user at the other end of a unix socket. It is asked for when it is needed and not stored, because
// few connections need it. It does not change, but is unknown after a reset.

#include "core/base/macros.h"
#include "server/transport/proxy_head.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Zeroed: unknown.
struct origin {
    bool has_address;
    bool has_user;
    struct in6_addr address; // an IPv4 address is mapped (::ffff:a.b.c.d)
    uid_t user;              // of the peer process when it connected
    gid_t group;             // its primary group
};

// One end of a connection by IP; unknown for another kind of socket.
struct client_address client_address_of(const struct sockaddr_storage *addr);

// The origin of the socket's peer.
struct origin origin_of(int fd);

// The origin of a client that a proxy has named.
struct origin origin_of_client(const struct client_address *client);

// Whether the peer is on this machine: a loopback address or a unix socket.
bool origin_is_local(const struct origin *origin);

// The groups of the user at the other end of a unix socket, the primary one first; for free(). NULL
// without memory.
gid_t *origin_groups(int fd, const struct origin *origin, size_t *count) MUST_USE;

// Room for the text of an origin.
#define ORIGIN_TEXT_MAX 64

// Writes `user:33`, `10.0.0.1`, `2001:db8::1`, or `-`, and a NUL. A user's name is not looked up,
// because that may block.
void origin_text(const struct origin *origin, char text[ORIGIN_TEXT_MAX]);

#endif
