/* SPDX-License-Identifier: MIT */
#include "server/io/sleeper.h"

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool sleeper_open(struct sleeper *sleeper)
{
    atomic_init(&sleeper->asleep, false);
    sleeper->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return sleeper->fd >= 0;
}

void sleeper_close(struct sleeper *sleeper)
{
    if (sleeper->fd >= 0) {
        (void)close(sleeper->fd);
        sleeper->fd = -1;
    }
}

// The count cannot overflow within any process's life; each write is an edge.
void sleeper_wake(struct sleeper *sleeper)
{
    const uint64_t one = 1;

    if (atomic_load(&sleeper->asleep) && atomic_exchange(&sleeper->asleep, false)) {
        ssize_t ignored = write(sleeper->fd, &one, sizeof one);

        (void)ignored;
    }
}
