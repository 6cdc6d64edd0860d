/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_CALLERS_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_CALLERS_H

// The callers that the peers of a rig are identified as. At first there are no rules: each peer is
// on this machine and may do everything.

#include "proto_common/wire.h"

#include <stdbool.h>
#include <stddef.h>

#define WIRE_TOKENS_MAX 8

struct wire_token {
    struct slice text; // borrowed
    struct grants *grants;
};

struct wire_callers {
    struct grants
        *default_grants;      // of peers that connect, and of claims without a token; NULL: all
    bool identified;          // peers without a token are identified, too
    struct grants *own_token; // of the last token of the front-end's own
    bool no_memory;           // no caller can be identified, for lack of memory
    bool remote;              // the peers are on another machine
    struct wire_token tokens[WIRE_TOKENS_MAX];
    size_t token_count;
    unsigned wrong;     // the number of invalid tokens so far
    unsigned wrong_max; // invalid tokens that are answered at once; 0: all
    nsec_t again_at;    // monotonic: the next invalid token is answered at this time
};

// The result of the host's `identify` at that time.
struct wire_caller wire_callers_identify(struct wire_callers *callers,
                                         const struct wire_claim *claim, nsec_t now);

// Adds a token. Takes a reference to the grants, which wire_callers_clear() releases.
void wire_callers_know(struct wire_callers *callers, const char *token, struct grants *grants);
void wire_callers_clear(struct wire_callers *callers);

// Grants as a test writes them: GRANTS({MAY_SUBMIT, "mail.*"}, {MAY_OBSERVE, "*"}). The caller owns
// the reference.
struct wire_right {
    unsigned rights;
    const char *queues;
};
#define GRANTS(...)                                                                                \
    wire_grants((const struct wire_right[]){__VA_ARGS__},                                          \
                sizeof((const struct wire_right[]){__VA_ARGS__}) / sizeof(struct wire_right))
struct grants *wire_grants(const struct wire_right *rights, size_t count);

struct peer;

// The rules are read again and give the peer these grants, by peer_grant(). Takes over the
// reference.
#define peer_may(peer, ...) peer_may_only((peer), GRANTS(__VA_ARGS__))
bool peer_may_only(struct peer *peer, struct grants *grants);

// Adds a token and the rights of its owner.
#define knows_token(rig, token, ...) rig_knows_token((rig), (token), GRANTS(__VA_ARGS__))
struct rig;
void rig_knows_token(struct rig *rig, const char *token, struct grants *grants);

#endif
