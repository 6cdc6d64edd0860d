/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_NET_H
#define TANDEM_ACCESS_NET_H

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <netinet/in.h>
#include <stdbool.h>

// A network: the addresses with a common prefix. An IPv4 address that is mapped into IPv6
// (::ffff:a.b.c.d) counts as IPv4, so no IPv6 network contains it, not even ::/0.
struct net {
    struct in6_addr address; // an IPv4 address is mapped
    unsigned bits;           // the length of the prefix in `address`, 0 to 128
    bool v4;
};

// Reads an address, or an address, a / and the length of a prefix. Returns NULL, or the error.
const char *net_read(struct slice text, struct net *net) MUST_USE;

// Whether the network contains the address, of which an IPv4 address is mapped.
bool net_has(const struct net *net, const struct in6_addr *address);

#endif
