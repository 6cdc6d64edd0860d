/* SPDX-License-Identifier: MIT */
#include "server/notify.h"

#include "server/clock.h"

#include <inttypes.h>
#include <systemd/sd-daemon.h>

void notify_ready(void)
{
    (void)sd_notify(0, "READY=1");
}

void notify_reloading(void)
{
    // By the moment the manager knows which of its reload requests this belongs to.
    (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
                     clock_now().mono / (NSEC_PER_MSEC / 1000));
}

void notify_stopping(void)
{
    (void)sd_notify(0, "STOPPING=1");
}
