/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_CLOCK_H
#define TANDEM_SERVER_PROCESS_CLOCK_H

// The only place that reads a clock for the broker.

#include "core/base/nsec.h"

// The present: CLOCK_MONOTONIC and CLOCK_REALTIME.
struct instant clock_now(void);

// Of the monotonic clock alone.
nsec_t clock_mono(void);

// CLOCK_BOOTTIME, which goes on while the machine sleeps.
nsec_t clock_boot(void);

#endif
