/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_CALLER_H
#define TANDEM_PROTO_COMMON_CALLER_H

// The caller of a connection, and how a front-end identifies it (wire_identify() in wire.h). At
// first the caller is the peer itself; after a token, it is the token's owner only. The front-end
// passes the caller's grants to its session, broker_session_grant(), and compares no names.

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/grants.h"

#include <stdbool.h>

struct access;

// The identity that a connection claims.
struct wire_claim {
    const struct slice *token; // NULL: none, so the caller is the peer itself
    struct access *also;       // further tokens, of the front-end (access.h); NULL: none
};

enum wire_caller_kind {
    CALLER_ADDRESS, // only the address is known
    CALLER_KNOWN,   // identified as a user of this machine, or by a certificate or a token
    CALLER_UNKNOWN, // the token is invalid: the caller stays as it was
    CALLER_LATER // the token is invalid, after too many from its address: try again at `again_at`
};

struct wire_caller {
    enum wire_caller_kind kind;
    // The caller's rights, for broker_session_grant(); NULL: all rights. Borrowed until the next
    // call of wire_identify() or of frontend->granted. Not set for the last two kinds.
    struct grants *grants;
    nsec_t again_at; // CALLER_LATER: monotonic
};

// Whether the bytes may be a token: printable ASCII without spaces, at least one character.
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
