/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_WHO_H
#define TANDEM_ACCESS_WHO_H

// The first word of a rule: the callers that it matches.

#include "access/access.h"
#include "access/net.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <sys/types.h>

enum who_kind { WHO_ANY, WHO_TOKEN, WHO_CERT, WHO_USER, WHO_GROUP, WHO_NET };

struct who {
    enum who_kind kind;
    union {
        unsigned token; // the number of the token
        struct {
            struct slice glob; // borrowed
            char *folded;      // the glob in lower case; owned
        } cert;
        uid_t user;
        gid_t group;
        struct net net;
    };
};

// Each function reads the text after the kind and its colon. Returns NULL, or the error; then there
// is nothing to free.
const char *who_read_cert(struct slice text, struct who *who) MUST_USE;
const char *who_read_user(struct slice text, struct who *who) MUST_USE;
const char *who_read_group(struct slice text, struct who *who) MUST_USE;
// An address, or an address, a / and the length of a prefix.
const char *who_read_net(struct slice text, struct who *who) MUST_USE;

void who_clear(struct who *who);

// The maximum length of a DNS name.
#define PEER_HOST_MOST 255

struct peer_name {
    struct slice name; // borrowed from the peer
    bool is_host;      // the name may be a DNS name: `folded` is the name in lower case
    char folded[PEER_HOST_MOST];
};

// A peer, prepared for the comparison with many rules.
struct peer {
    const struct access_peer *known; // borrowed
    size_t count;
    struct peer_name names[ACCESS_NAMES_MAX]; // the names that may match a rule
};

void peer_init(struct peer *peer, const struct access_peer *known);

// Whether the rule matches a peer that has shown no token.
bool who_is_peer(const struct who *who, const struct peer *peer);

// Whether the rule matches a caller that has shown the token.
bool who_is_token(const struct who *who, unsigned token);

#endif
