/* SPDX-License-Identifier: MIT */
#include "server/process/clock.h"

#include "core/base/macros.h"

#include <time.h>

static nsec_t clock_read(clockid_t id)
{
    struct timespec t;

    ENSURE(clock_gettime(id, &t) == 0);
    return (nsec_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

struct instant clock_now(void)
{
    return (struct instant){.mono = clock_read(CLOCK_BOOTTIME), .wall = clock_read(CLOCK_REALTIME)};
}

nsec_t clock_boot(void)
{
    return clock_read(CLOCK_BOOTTIME);
}

nsec_t clock_awake(void)
{
    return clock_read(CLOCK_MONOTONIC);
}
