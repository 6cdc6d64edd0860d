/* SPDX-License-Identifier: MIT */
#include "access/net.h"

#include "core/base/digits.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

#define MAPPED_BITS 96

static const unsigned char mapped_prefix[MAPPED_BITS / 8] = {
    [10] = 0xff,
    [11] = 0xff,
};

static bool net_read_address(struct slice text, struct net *net)
{
    char string[INET6_ADDRSTRLEN];

    if (text.len >= sizeof string || memchr(text.ptr, '\0', text.len)) {
        return false;
    }
    memcpy(string, text.ptr, text.len);
    string[text.len] = '\0';
    net->v4 = inet_pton(AF_INET, string, &net->address.s6_addr[sizeof mapped_prefix]) == 1;
    if (net->v4) {
        memcpy(net->address.s6_addr, mapped_prefix, sizeof mapped_prefix);
        return true;
    }
    return inet_pton(AF_INET6, string, &net->address) == 1;
}

// Whether all bits after the prefix are 0.
static bool net_is_first(const struct net *net)
{
    for (unsigned bit = net->bits; bit < 128; bit++) {
        if (net->address.s6_addr[bit / 8] & (0x80u >> bit % 8)) {
            return false;
        }
    }
    return true;
}

const char *net_read(struct slice text, struct net *net)
{
    const char *slash = text.len > 0 ? memchr(text.ptr, '/', text.len) : NULL;
    size_t len = slash ? (size_t)(slash - text.ptr) : text.len;
    uint64_t bits;

    *net = (struct net){.bits = 0};
    if (len == 0 || !net_read_address(slice_of(text.ptr, len), net)) {
        return "not an IPv4 or IPv6 address";
    }
    bits = net->v4 ? 32 : 128;
    if (slash && (!digits_read(slice_from(text, len + 1), &bits) || bits > (net->v4 ? 32 : 128))) {
        return "the number of bits after the / is not valid for this address";
    }
    net->bits = (unsigned)bits + (net->v4 ? MAPPED_BITS : 0);
    if (!net_is_first(net)) {
        return "the address has bits set after its network";
    }
    net->v4 = net->v4 || (bool)IN6_IS_ADDR_V4MAPPED(&net->address);
    return NULL;
}

bool net_has(const struct net *net, const struct in6_addr *address)
{
    const unsigned char *ours = net->address.s6_addr;
    const unsigned char *other = address->s6_addr;
    unsigned whole = net->bits / 8;
    unsigned rest = net->bits % 8;

    return net->v4 == (bool)IN6_IS_ADDR_V4MAPPED(address) && memcmp(ours, other, whole) == 0 &&
           (rest == 0 || ((ours[whole] ^ other[whole]) & (0xff00u >> rest & 0xff)) == 0);
}
