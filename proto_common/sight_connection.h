/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_SIGHT_CONNECTION_H
#define TANDEM_PROTO_COMMON_SIGHT_CONNECTION_H

// What the process shows of a connection: a part of sight.h, and as that says.

#include "core/base/nsec.h"

#include <stdbool.h>
#include <stdint.h>

struct session;

#define SIGHT_PEER_MAX 128
#define SIGHT_CALLER_MAX 128 // longer ones are cut

struct sight_connection {
    uint64_t number;           // of the connection, as in the log: rising
    const char *protocol;      // name of the front-end
    char peer[SIGHT_PEER_MAX]; // address and port, or "unix"
    bool tls;
    char caller[SIGHT_CALLER_MAX]; // role or identity that rules know; empty: nobody in particular
    const char *client_id;         // what a Gearman client calls itself; NULL: nothing
    nsec_t connected_at;           // monotonic
    const struct session *session; // the core's, for session_info(); NULL: it has none
    uint64_t received, sent;       // bytes
    uint64_t unread;               // bytes of output that the peer has not taken
    uint64_t kept;                 // bytes that are kept for it, `unread` among them
};

#endif
