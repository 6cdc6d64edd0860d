/* SPDX-License-Identifier: MIT */
#include "tests/proto_common/wire_callers.h"

#include "access/access.h"
#include "core/base/macros.h"

#include "tests/proto_common/wire_host.h"

#include <string.h>

#define RIGHTS_MAX 8

// The grants of the front-end's own token; NULL: the claim has no such token.
static struct grants *grants_of_own(struct wire_callers *callers, const struct wire_claim *claim)
{
    unsigned token = claim->also ? access_find_token(claim->also, *claim->token) : 0;

    grants_unref(callers->own_token);
    callers->own_token = token ? access_of_token(claim->also, token) : NULL;
    return callers->own_token;
}

struct wire_caller wire_callers_identify(struct wire_callers *callers,
                                         const struct wire_claim *claim, nsec_t now)
{
    if (callers->no_memory) {
        return (struct wire_caller){.kind = CALLER_UNKNOWN};
    }
    if (!claim->token) {
        return (struct wire_caller){.kind = callers->identified ? CALLER_KNOWN : CALLER_ADDRESS,
                                    .grants = callers->default_grants};
    }
    for (size_t i = 0; i < callers->token_count; i++) {
        if (slice_equal(*claim->token, callers->tokens[i].text)) {
            return (struct wire_caller){.kind = CALLER_KNOWN, .grants = callers->tokens[i].grants};
        }
    }
    if (grants_of_own(callers, claim)) {
        return (struct wire_caller){.kind = CALLER_KNOWN, .grants = callers->own_token};
    }
    if (callers->wrong_max > 0 && callers->wrong >= callers->wrong_max && now < callers->again_at) {
        return (struct wire_caller){.kind = CALLER_LATER, .again_at = callers->again_at};
    }
    callers->wrong++;
    return (struct wire_caller){.kind = CALLER_UNKNOWN};
}

void wire_callers_know(struct wire_callers *callers, const char *token, struct grants *grants)
{
    ENSURE(callers->token_count < WIRE_TOKENS_MAX);
    callers->tokens[callers->token_count++] =
        (struct wire_token){slice_str(token), grants_ref(grants)};
}

void wire_callers_clear(struct wire_callers *callers)
{
    for (size_t i = 0; i < callers->token_count; i++) {
        grants_unref(callers->tokens[i].grants);
    }
    grants_unref(callers->default_grants);
    grants_unref(callers->own_token);
}

struct grants *wire_grants(const struct wire_right *rights, size_t count)
{
    struct grant list[RIGHTS_MAX];
    struct grants *grants;

    ENSURE(count <= RIGHTS_MAX);
    for (size_t i = 0; i < count; i++) {
        list[i] = (struct grant){
            .rights = rights[i].rights,
            .queues = slice_str(rights[i].queues),
        };
    }
    grants = grants_new(list, count);
    ENSURE(grants);
    return grants;
}

bool peer_may_only(struct peer *peer, struct grants *grants)
{
    bool dropped = peer_grant(peer, grants);

    grants_unref(grants);
    return dropped;
}

void rig_knows_token(struct rig *rig, const char *token, struct grants *grants)
{
    wire_callers_know(rig_callers(rig), token, grants);
    grants_unref(grants);
}
