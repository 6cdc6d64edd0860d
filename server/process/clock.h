/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_CLOCK_H
#define TANDEM_SERVER_PROCESS_CLOCK_H

// The only place that reads a clock for the broker. Neither of the two monotonic clocks is ever
// set. They differ while the machine is suspended:
//
// - CLOCK_BOOTTIME goes on. What somebody asked for as a span of time counts on it (a delay, a time
//   to run, a pause, a rate, a wait), since workers and clients on other machines go on, too. So
//   does all that is compared with such a moment.
// - CLOCK_MONOTONIC stops. How long the process itself, a disk or a peer had for something that
//   could not happen meanwhile counts on it.

#include "core/base/nsec.h"

// The present: CLOCK_BOOTTIME as `mono`, and CLOCK_REALTIME.
struct instant clock_now(void);

// CLOCK_BOOTTIME alone: the broker's monotonic clock.
nsec_t clock_boot(void);

// CLOCK_MONOTONIC.
nsec_t clock_awake(void);

#endif
