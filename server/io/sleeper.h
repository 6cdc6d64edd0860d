/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_SLEEPER_H
#define TANDEM_SERVER_IO_SLEEPER_H

// How a thread that waits in its event loop is woken, which costs others nothing while it is awake.
// Before it waits, a thread says that it is about to sleep and looks once more for what others may
// have left it; whoever leaves something does so first and then looks whether the thread sleeps.
// So one of them sees the other: all of these operations have one order (sequential consistency).

#include <stdatomic.h>
#include <stdbool.h>

struct sleeper {
    int fd;             // an eventfd to be watched for edges, so that nobody has to read it
    atomic_bool asleep; /* private */
};

// False without a descriptor.
bool sleeper_open(struct sleeper *sleeper);
void sleeper_close(struct sleeper *sleeper);

// The thread is about to sleep. It looks whether there is something to do afterwards, and does not
// sleep then.
static inline void sleeper_lie_down(struct sleeper *sleeper)
{
    atomic_store(&sleeper->asleep, true);
}

static inline void sleeper_get_up(struct sleeper *sleeper)
{
    atomic_store_explicit(&sleeper->asleep, false, memory_order_relaxed);
}

// Something was left for the thread.
void sleeper_wake(struct sleeper *sleeper);

#endif
