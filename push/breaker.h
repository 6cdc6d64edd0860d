/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_BREAKER_H
#define TANDEM_PUSH_BREAKER_H

// A circuit breaker. It opens after BREAKER_FAILURES failures in a row: nothing is sent for a
// pause, so that jobs stay ready and lose no attempts. Then one job at a time is tried. If that
// fails, the next pause is twice as long, up to BREAKER_PAUSE_MAX; the first success closes the
// breaker.

#include "core/base/nsec.h"

#define BREAKER_FAILURES 3
#define BREAKER_PAUSE_MIN NSEC_PER_SEC
#define BREAKER_PAUSE_MAX (60 * NSEC_PER_SEC)

struct breaker {
    unsigned failures; // in a row; those during a pause are not counted
    nsec_t open_until; // monotonic
};

void breaker_succeed(struct breaker *breaker);
void breaker_fail(struct breaker *breaker, nsec_t now_at);

// The limit of concurrent requests, which is `most` while the breaker is closed.
unsigned breaker_most(const struct breaker *breaker, nsec_t now_at, unsigned most);

#endif
