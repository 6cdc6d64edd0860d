/* SPDX-License-Identifier: MIT */
#include "push/breaker.h"

void breaker_succeed(struct breaker *breaker)
{
    *breaker = (struct breaker){0};
}

void breaker_fail(struct breaker *breaker, nsec_t now_at)
{
    nsec_t pause_for = BREAKER_PAUSE_MIN;

    if (now_at < breaker->open_until) {
        // The request was sent before the breaker opened, so this is not a further failure.
        return;
    }
    breaker->failures++;
    if (breaker->failures < BREAKER_FAILURES) {
        return;
    }
    for (unsigned i = BREAKER_FAILURES; i < breaker->failures && pause_for < BREAKER_PAUSE_MAX;
         i++) {
        pause_for *= 2;
    }
    breaker->open_until =
        nsec_add(now_at, pause_for < BREAKER_PAUSE_MAX ? pause_for : BREAKER_PAUSE_MAX);
}

unsigned breaker_most(const struct breaker *breaker, nsec_t now_at, unsigned most)
{
    if (now_at < breaker->open_until) {
        return 0;
    }
    return breaker->failures < BREAKER_FAILURES ? most : 1;
}
