/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_CALLERS_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_CALLERS_H

// Who a rig's peers are. At first there are no rules, and each may do everything, from this
// machine.

#include "proto_common/wire.h"

#include <stdbool.h>
#include <stddef.h>

#define WIRE_TOKENS_MAX 8

struct wire_token {
    struct slice text; // borrowed
    struct grants *grants;
};

struct wire_callers {
    struct grants *anybody; // who has given no token; NULL: everything. Peers that connect are told
    bool proven;            // such a one is somebody in particular all the same
    struct grants *shown;   // what the tokens of a front-end that were shown last grant
    bool lost;              // who that is cannot be found out: memory lacks
    bool remote;            // it comes from another machine
    struct wire_token tokens[WIRE_TOKENS_MAX];
    size_t token_count;
    unsigned wrong;    // how many tokens were none
    unsigned patience; // so many wrong ones are answered at once; 0: all
    nsec_t again_at;   // then the next wrong one is not before this moment
};

// What the host's `identify` answers at that moment.
struct wire_caller wire_callers_identify(struct wire_callers *callers,
                                         const struct wire_claim *claim, nsec_t now);

// Takes a reference to the grants, which wire_callers_clear() gives back.
void wire_callers_know(struct wire_callers *callers, const char *token, struct grants *grants);
void wire_callers_clear(struct wire_callers *callers);

// Grants as a test writes them: GRANTS({MAY_SUBMIT, "mail.*"}, {MAY_OBSERVE, "*"}). The caller has
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

// The rules are read again, and say that of the peer, peer_grant(); the reference is given up.
#define peer_may(peer, ...) peer_may_only((peer), GRANTS(__VA_ARGS__))
bool peer_may_only(struct peer *peer, struct grants *grants);

// A token of which the rig knows from now on, and what its owner may do.
#define knows_token(rig, token, ...) rig_knows_token((rig), (token), GRANTS(__VA_ARGS__))
struct rig;
void rig_knows_token(struct rig *rig, const char *token, struct grants *grants);

#endif
