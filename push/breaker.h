/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_BREAKER_H
#define TANDEM_PUSH_BREAKER_H

// A circuit breaker: an endpoint that seems to be down is tried less and less often, so that its
// jobs stay ready instead of spending their attempts, and neither side wastes work. After
// BREAKER_FAILURES in a row it opens: nothing is sent for a pause; then one job is tried at a time.
// If that fails, too, the pause is twice as long, up to BREAKER_PAUSE_MAX; the first success closes
// it.

#include "core/base/nsec.h"

#define BREAKER_FAILURES 3
#define BREAKER_PAUSE_MIN NSEC_PER_SEC
#define BREAKER_PAUSE_MAX (60 * NSEC_PER_SEC)

struct breaker {
    unsigned failures; // in a row; those while it is open are one with that which opened it
    nsec_t open_until; // monotonic
};

void breaker_succeed(struct breaker *breaker);
void breaker_fail(struct breaker *breaker, nsec_t now_at);

// How many requests may be on their way, where it is `most` while all is well.
unsigned breaker_most(const struct breaker *breaker, nsec_t now_at, unsigned most);

#endif
