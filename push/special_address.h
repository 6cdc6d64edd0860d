/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_SPECIAL_ADDRESS_H
#define TANDEM_PUSH_SPECIAL_ADDRESS_H

// Addresses that are not on the public Internet. The owner of a name decides what it resolves to:
// without this check, an endpoint could have the broker send requests to services of the broker's
// own host and network (server-side request forgery).

#include <stdbool.h>
#include <sys/socket.h>

// Whether the address is private, loopback, link-local, multicast, for documentation, or reserved
// for another use (IANA's registries of special-purpose addresses, RFC 6890). An IPv6 address that
// embeds an IPv4 address (mapped, NAT64, 6to4) is special if that one is. Addresses of other
// families are special.
bool address_is_special(const struct sockaddr *address);

#endif
