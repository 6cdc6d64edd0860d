/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_SOCKET_H
#define TANDEM_SERVER_NET_SOCKET_H

// Listening sockets, and addresses as text.

#include "core/base/macros.h"
#include "server/config/listen_address.h"
#include "core/base/error_text.h"
#include "server/transport/transport.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

// Room for any address as text: `[v6%zone]:port` or `unix:/path`.
#define PEER_TEXT_MAX 128

// A name can stand for several addresses, and an unspecified address for two.
#define SOCKETS_MAX 16

// Listens at the address. Returns the number of descriptors in `fds`, which do not block; 0 with
// the reason in `why`. Addresses of a family that this machine does not support are left out, if a
// name has others. A unix socket at which no process listens is replaced; any other file at its
// path is not touched, and an error.
size_t socket_listen(const struct listen_address *address, int fds[SOCKETS_MAX],
                     struct error_text *why) MUST_USE;

// Writes `host:port`, `[host]:port` or `unix:/path`. `room` must be enough for an IPv4 address.
void socket_text(const struct sockaddr *addr, socklen_t len, char *text, size_t room);

// Writes the address of a connected socket's peer; "-" if the peer has reset the connection.
void socket_peer_text(int fd, char *text, size_t room);

// The same for a client that a proxy has named.
void socket_client_text(const struct client_address *client, char *text, size_t room);

// The same for the client of a connection, which may be the peer itself.
void socket_speaker_text(const struct transport *transport, int fd, const void *own, char *text,
                         size_t room);

// Whether it is a unix socket.
bool socket_is_local(int fd);

// The number of connections that wait to be accepted at a TCP socket, but at least `least`, also if
// the system does not tell.
unsigned socket_waiting(int fd, unsigned least);

// Whether an error of accept concerns only one connection, which has failed before it was accepted,
// or means nothing: the next connection may be accepted.
bool socket_error_passes(int error);

#endif
