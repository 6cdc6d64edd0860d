/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_SOCKET_H
#define TANDEM_SERVER_NET_SOCKET_H

// Making sockets that listen, and addresses as text.

#include "core/base/macros.h"
#include "server/config/address.h"
#include "core/base/error_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

// A name can stand for several addresses, and any address for two.
#define SOCKETS_MAX 16

// Listens at the address; the descriptors, which do not block, in `fds`. Returns how many, 0 with
// the reason in `why`. Of the several addresses of a name, those of a family that this machine
// does not have are left out. A unix socket that nobody listens at any more is replaced; anything
// else at its path is left alone, and a reason to fail.
size_t socket_listen(const struct address *address, int fds[SOCKETS_MAX],
                     struct error_text *why) MUST_USE;

// `host:port`, `[host]:port` or `unix:/path`; `room` is enough for an IPv4 address at least.
void socket_text(const struct sockaddr *addr, socklen_t len, char *text, size_t room);

// The same of a connected socket's peer; "-" where it has reset the connection.
void socket_peer_text(int fd, char *text, size_t room);

// Whether it is a unix socket.
bool socket_is_local(int fd);

// How many connections wait to be accepted at a TCP socket; no fewer than `least`, which is also
// for a system that does not tell.
unsigned socket_waiting(int fd, unsigned least);

// Whether an error of accept is what a connection that failed before it was accepted leaves behind,
// or says nothing: the next one may be accepted.
bool socket_error_passes(int error);

#endif
