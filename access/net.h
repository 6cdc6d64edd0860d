/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_NET_H
#define TANDEM_ACCESS_NET_H

// Networks: all addresses that begin with the same bits. An IPv4 address that is mapped into IPv6
// (::ffff:a.b.c.d) is that IPv4 address: no network of IPv6 has it, not even ::/0.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <netinet/in.h>
#include <stdbool.h>

struct net {
    struct in6_addr address; // an IPv4 one is mapped
    unsigned bits;           // of the address above, 0 to 128
    bool v4;
};

// Reads an address, or an address, / and how many bits count. NULL where it is one; else what is
// wrong.
const char *net_read(struct slice text, struct net *net) MUST_USE;

bool net_has(const struct net *net, const struct in6_addr *address);

#endif
