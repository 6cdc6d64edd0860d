/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_PEER_H
#define TANDEM_ACCESS_PEER_H

// A peer, prepared for the comparison with many rules.

#include "access/access.h"

// The maximum length of a name that is compared, in bytes.
#define PEER_NAME_MOST 1024
// The maximum length of a DNS name.
#define PEER_HOST_MOST 255

struct peer_name {
    struct slice name; // borrowed from the peer
    bool is_host;      // the name may be a DNS name: `folded` is the name in lower case
    char folded[PEER_HOST_MOST];
};

struct peer {
    const struct access_peer *known; // borrowed
    size_t count;
    struct peer_name names[ACCESS_NAMES_MAX]; // the names that may match a rule
};

void peer_init(struct peer *peer, const struct access_peer *known);

// Converts an ASCII letter to lower case; returns other bytes unchanged.
char peer_fold(char c);

#endif
