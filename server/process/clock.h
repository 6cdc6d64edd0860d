/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_CLOCK_H
#define TANDEM_SERVER_PROCESS_CLOCK_H

// The only place that reads a clock for the broker. Neither of the two monotonic clocks is ever
// set. They differ while the machine is suspended:
//
// - CLOCK_BOOTTIME continues. All times that a client asks for (a delay, a TTR, a pause, a rate, a
//   wait) count on it, because workers and clients on other machines continue, too. So does each
//   time that is compared with one of these.
// - CLOCK_MONOTONIC stops. It measures how long the process itself, a disk or a peer had for
//   something that could not happen during the suspend.

#include "core/base/nsec.h"

// Now: CLOCK_BOOTTIME as `mono`, and CLOCK_REALTIME as `wall`.
struct instant clock_now(void);

// CLOCK_BOOTTIME: the broker's monotonic clock.
nsec_t clock_boot(void);

// CLOCK_MONOTONIC.
nsec_t clock_awake(void);

#endif
