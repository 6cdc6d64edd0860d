/* SPDX-License-Identifier: MIT */
#include "push/endpoint.h"

#include "proto_common/sight_push.h"
#include "push/push_private.h"

static const char *const outcome_words[] = {
#define X(name, word) [name] = (word),
    OUTCOMES(X)
#undef X
};

static const char *state_of(const struct endpoint *endpoint, nsec_t until)
{
    if (endpoint->leaving) {
        return "leaving";
    }
    if (until > push_now(endpoint->push)) {
        return "paused";
    }
    return endpoint->breaker.failures < BREAKER_FAILURES ? "open" : "trying";
}

void endpoint_show(const struct endpoint *endpoint, struct sight_push *shown)
{
    nsec_t now_at = push_now(endpoint->push);
    nsec_t until = endpoint->paused_until > endpoint->breaker.open_until
                       ? endpoint->paused_until
                       : endpoint->breaker.open_until;

    *shown = (struct sight_push){
        .section = endpoint->spec->name,
        .endpoint = endpoint->spec->origin,
        .state = state_of(endpoint, until),
        .paused_for = until > now_at ? until - now_at : 0,
        .connections = endpoint->spec->connections,
        .in_flight = endpoint->busy,
        .outcome_words = outcome_words,
        .outcomes = endpoint->outcomes,
        .outcome_count = OUTCOME_KINDS,
        .last_failure = endpoint->last_failure,
    };
}
