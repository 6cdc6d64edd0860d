/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_CALLER_H
#define TANDEM_PROTO_COMMON_CALLER_H

// Whom a connection speaks for, and how a front-end finds out (wire_identify() in wire.h). At first
// it is who the peer is by itself; a token makes it the token's owner, and nobody else. The
// front-end hands what the caller may do to its session, broker_session_grant(), and compares no
// names.

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/grants.h"

#include <stdbool.h>

struct access;

// What a connection says of whom it speaks for.
struct wire_claim {
    const struct slice *token; // NULL: none, so that it is who the peer is by itself
    struct access *also; // tokens that the front-end has beside the host's (access.h); NULL: none
};

enum wire_caller_kind {
    CALLER_ADDRESS, // nobody in particular: all that is known is where it comes from
    CALLER_KNOWN,   // a user of this machine, a certificate, or a token
    CALLER_UNKNOWN, // the token is none: whom it speaks for stays as it was
    CALLER_LATER    // the token is none, as too many from its address: ask again at `again_at`
};

struct wire_caller {
    enum wire_caller_kind kind;
    // What it may do, for broker_session_grant(); NULL: everything. Borrowed, until it is asked for
    // again or frontend->granted is called. Not set for the last two kinds.
    struct grants *grants;
    nsec_t again_at; // CALLER_LATER: monotonic
};

// Whether a token can be spelt so: printable ASCII without spaces, at least one character.
static inline bool wire_token_valid(struct slice token)
{
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] <= ' ' || token.ptr[i] > '~') {
            return false;
        }
    }
    return token.len > 0;
}

#endif
