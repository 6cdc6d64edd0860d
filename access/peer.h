/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_PEER_H
#define TANDEM_ACCESS_PEER_H

// A peer, made ready to be compared with many rules.

#include "access/access.h"

// The longest name that is compared, in bytes.
#define PEER_NAME_MOST 1024
// The longest that a name of DNS is.
#define PEER_HOST_MOST 255

struct peer_name {
    struct slice name; // borrowed from the peer
    bool is_host;      // it may be a name of DNS: upper and lower case are the same, as in
    char folded[PEER_HOST_MOST];
};

struct peer {
    const struct access_peer *known; // borrowed
    size_t count;
    struct peer_name names[ACCESS_NAMES_MAX]; // those that may fit a rule
};

void peer_init(struct peer *peer, const struct access_peer *known);

// Upper-case letters of ASCII become lower-case ones.
char peer_fold(char c);

#endif
