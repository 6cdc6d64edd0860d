/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_FENCE_H
#define TANDEM_CORE_BASE_FENCE_H

// A deadline for an action, on the clock that continues while the machine sleeps (CLOCK_BOOTTIME).
// One thread moves it; any thread checks it right before the action.

#include "core/base/nsec.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct fence {
    _Atomic(int64_t) until_at; // NSEC_NEVER: no deadline; 0: not allowed now
};

static inline void fence_move(struct fence *fence, nsec_t until_at)
{
    atomic_store_explicit(&fence->until_at, until_at, memory_order_release);
}

static inline nsec_t fence_until(const struct fence *fence)
{
    return atomic_load_explicit(&fence->until_at, memory_order_acquire);
}

// `now_at` is on CLOCK_BOOTTIME.
static inline bool fence_is_open(const struct fence *fence, nsec_t now_at)
{
    return now_at < fence_until(fence);
}

#endif
