/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_METER_H
#define TANDEM_SERVER_IO_METER_H

// How long a thread has slept, for others to see how busy it is. Time that passed counts and not
// processor time: a thread that is kept from running by others on the machine is busy, too.

#include "core/base/nsec.h"

#include <stdatomic.h>

struct meter {
    _Atomic(nsec_t) slept_for; /* private */
    _Atomic(nsec_t) since_at;  /* private: it sleeps; 0: it does not */
};

// Called by the thread itself.
static inline void meter_sleep(struct meter *meter, nsec_t now_at)
{
    atomic_store_explicit(&meter->since_at, now_at, memory_order_relaxed);
}

static inline void meter_wake(struct meter *meter, nsec_t now_at)
{
    nsec_t since_at = atomic_load_explicit(&meter->since_at, memory_order_relaxed);
    nsec_t slept_for = atomic_load_explicit(&meter->slept_for, memory_order_relaxed);

    atomic_store_explicit(&meter->since_at, 0, memory_order_relaxed);
    atomic_store_explicit(&meter->slept_for, slept_for + now_at - since_at, memory_order_relaxed);
}

// How long it has slept so far. Called by any thread; one that is just waking up may be told too
// little or too much once.
static inline nsec_t meter_slept(const struct meter *meter, nsec_t now_at)
{
    nsec_t since_at = atomic_load_explicit(&meter->since_at, memory_order_relaxed);
    nsec_t slept_for = atomic_load_explicit(&meter->slept_for, memory_order_relaxed);

    return since_at != 0 && since_at < now_at ? slept_for + now_at - since_at : slept_for;
}

#endif
