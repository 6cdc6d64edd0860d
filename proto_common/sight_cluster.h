/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_SIGHT_CLUSTER_H
#define TANDEM_PROTO_COMMON_SIGHT_CLUSTER_H

// How this process stands to others that have, or follow, the same journal: a part of sight.h, and
// as that says.

#include "core/base/nsec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sight_role {
    SIGHT_ALONE,   // nobody else may have the journal
    SIGHT_OWNER,   //
    SIGHT_UNSURE,  // it was the owner, and cannot say whether it still is
    SIGHT_STANDBY, // it follows, and serves nobody
    SIGHT_OPENING  // it reads the journal and is far behind, or cannot reach the database
};

// A process that has, or follows, the same journal.
struct sight_member {
    const char *node;
    const char *address;
    bool owner;
    bool takes_over; // where nobody else has it
    bool self;
    uint64_t epoch;
    uint64_t behind; // rows that it does not have yet
    nsec_t seen_for; // how long ago it was heard of
};

// A journal that several processes share.
struct sight_cluster {
    enum sight_role role; // SIGHT_ALONE: all else is 0
    const char *shard;
    const char *node;  // this process
    const char *owner; // empty: nobody
    const char *owner_address;
    uint64_t epoch;
    uint64_t since_ms;     // wall clock: when the owner took it
    uint64_t seq;          // of the last row, as far as it is known
    uint64_t behind;       // rows that this process does not have yet
    uint64_t takeovers;    // that this process has made
    nsec_t lease_left_for; // of the owner's, by this machine's clock; 0: it has lapsed
    bool connected;        // to the database
    bool durable;          // a commit waits for a disk
    bool replicated;       // ... and for a standby of the database
    bool required;         // the owner is not ready where either of these is not so
    bool trusted;          // nobody is told: it is safe by other means than these settings
    const char *care;      // the settings of the database that say so
    const char *why;       // why the database cannot be reached; empty: it can be
    const struct sight_member *members;
    size_t count;
    uint64_t proxied, proxied_total; // connections passed to the owner: now, and so far
};

#endif
