/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_SPECIAL_ADDRESS_H
#define TANDEM_PUSH_SPECIAL_ADDRESS_H

// Which addresses are not of the public Internet. What a name resolves to is decided by whoever
// answers for it: without this check they could have the broker send requests to services of its
// own host and network (server-side request forgery).

#include <stdbool.h>
#include <sys/socket.h>

// Whether the address is private, loopback, link-local, multicast, documentation, or reserved for
// anything else (IANA's registries of special-purpose addresses, RFC 6890). An IPv6 address that
// stands for an IPv4 address (mapped, NAT64, 6to4) is what that one is. An address of any other
// family is special.
bool address_is_special(const struct sockaddr *address);

#endif
