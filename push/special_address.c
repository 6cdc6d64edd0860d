/* SPDX-License-Identifier: MIT */
#include "push/special_address.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct special_block4 {
    uint32_t prefix;
    unsigned bits;
};

static const struct special_block4 special4[] = {
    {0x00000000, 8},  // 0.0.0.0/8: this network
    {0x0a000000, 8},  // 10.0.0.0/8: private
    {0x64400000, 10}, // 100.64.0.0/10: shared by the customers of a carrier
    {0x7f000000, 8},  // 127.0.0.0/8: loopback
    {0xa9fe0000, 16}, // 169.254.0.0/16: link-local; the metadata services of clouds
    {0xac100000, 12}, // 172.16.0.0/12: private
    {0xc0000000, 24}, // 192.0.0.0/24: protocols
    {0xc0000200, 24}, // 192.0.2.0/24: documentation
    {0xc0586300, 24}, // 192.88.99.0/24: formerly relays of 6to4
    {0xc0a80000, 16}, // 192.168.0.0/16: private
    {0xc6120000, 15}, // 198.18.0.0/15: benchmarks
    {0xc6336400, 24}, // 198.51.100.0/24: documentation
    {0xcb007100, 24}, // 203.0.113.0/24: documentation
    {0xe0000000, 4},  // 224.0.0.0/4: multicast
    {0xf0000000, 4},  // 240.0.0.0/4: reserved, and broadcast
};

static bool address_is_special4(uint32_t address)
{
    for (size_t i = 0; i < sizeof special4 / sizeof *special4; i++) {
        if ((address ^ special4[i].prefix) >> (32 - special4[i].bits) == 0) {
            return true;
        }
    }
    return false;
}

static uint32_t address_read4(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool special_has_prefix(const uint8_t *address, const uint8_t *prefix, unsigned bits)
{
    unsigned whole = bits / 8;
    unsigned rest = bits % 8;

    return memcmp(address, prefix, whole) == 0 &&
           (rest == 0 || (address[whole] ^ prefix[whole]) >> (8 - rest) == 0);
}

struct special_block6 {
    uint8_t prefix[16];
    unsigned bits;
    unsigned embedded_at; // the offset of an embedded IPv4 address; 0: none
};

// The first match decides. All other addresses except 2000::/3 are special: ::, ::1, fc00::/7,
// fe80::/10, ff00::/8 and unassigned blocks.
static const struct special_block6 blocks6[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, 12}, // ::ffff:0:0/96: mapped
    {{0x00, 0x64, 0xff, 0x9b}, 96, 12},                   // 64:ff9b::/96: NAT64
    {{0x20, 0x02}, 16, 2},                                // 2002::/16: 6to4
    {{0x20, 0x01}, 23, 0},                                // 2001::/23: protocols, Teredo
    {{0x20, 0x01, 0x0d, 0xb8}, 32, 0},                    // 2001:db8::/32: documentation
    {{0x3f, 0xff}, 20, 0},                                // 3fff::/20: documentation
};

static bool address_is_special6(const uint8_t *address)
{
    for (size_t i = 0; i < sizeof blocks6 / sizeof *blocks6; i++) {
        const struct special_block6 *block = &blocks6[i];

        if (special_has_prefix(address, block->prefix, block->bits)) {
            return block->embedded_at == 0 ||
                   address_is_special4(address_read4(address + block->embedded_at));
        }
    }
    return address[0] >> 5 != 1;
}

bool address_is_special(const struct sockaddr *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    switch (address->sa_family) {
    case AF_INET:
        memcpy(&v4, address, sizeof v4);
        return address_is_special4(ntohl(v4.sin_addr.s_addr));
    case AF_INET6:
        memcpy(&v6, address, sizeof v6);
        return address_is_special6(v6.sin6_addr.s6_addr);
    default:
        return true;
    }
}
